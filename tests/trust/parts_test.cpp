// Values that are cut by trust, and tools that are called by name: what a program may see of a result without reading
// it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "tests/support/machine_run.h"
#include "tests/support/program_image.h"

namespace tenon {
namespace {

using testing::HasSubstr;

constexpr std::string_view parts_declarations = R"(
struct Mail { id: i64, from: String, body: String, read: Boolean? }

extern fn read_inbox() -> String
extern fn is_urgent() -> Boolean
/// Sends a mail.
extern fn send_mail(to: trusted String, body: String, copies: i32?) -> String
extern fn clear_inbox() -> ()

fn shown(parts: List<String>) -> String {
    let all = ""
    for at in 0..parts.len() {
        let part = parts[at]
        if at % 2 == 0 { all += part } else { all += if part.is_trusted() { "<{{ part }}>" } else { "?" } }
    }
    all
}
)";

struct PartsAnswers {
  std::string inbox;
  bool is_failing = false;
};

test::RunRecord run_parts(std::string_view text, const PartsAnswers& answers = {"eve"}) {
  const auto image = test::make_image(std::string(parts_declarations) + std::string(text));
  const bytecode::Program& program = image->program();
  const auto main = std::ranges::find(program.functions, "main", &bytecode::Function::name);
  const auto answer = [&](vm::Machine& machine, const vm::Request& request) {
    const auto returns = [](vm::Value value) { return vm::Outcome{vm::ReturnedValue{std::move(value)}, {}}; };
    const bytecode::Extern& callee = machine.program().program().externs[request.subject];
    if (answers.is_failing) return vm::Outcome{vm::EffectFailure{types::FailureKind::ToolFailed, "no", ""}, {}};
    if (callee.name == "is_urgent") return returns(vm::Value::boolean(true));
    return returns(callee.result == types::TypeTable::string ? vm::Value::string(answers.inbox) : vm::Value::unit());
  };
  return test::run(image->loaded(), {}, answer, {}, static_cast<std::uint32_t>(main - program.functions.begin()));
}

TEST(Parts, TextsAndWhatIsNotTrustedAreCutOut) {
  constexpr std::string_view program = R"(
    fn main() -> String {
        let mails = [Mail { id: 7, from: "ann", body: read_inbox(), read: Some(is_urgent()) }]
        shown(mails.parts())
    })";
  const test::RunRecord record = run_parts(program);
  EXPECT_EQ(record.end, R"(value "[{\"id\":7,\"from\":<ann>,\"body\":?,\"read\":?}]")");
  EXPECT_EQ(record.label, "program") << "what is cut does not depend on what is not trusted";
  EXPECT_EQ(run_parts(program, {""}).end, record.end) << "an empty text is cut out like another";
}

TEST(Parts, WhatIsNotTrustedIsCutOutAsAWhole) {
  EXPECT_EQ(run_parts(R"(fn main() -> String { shown([read_inbox()].parts()) })").end, R"(value "[?]")");
  EXPECT_EQ(run_parts(R"(fn main() -> String { shown(read_inbox().split(",").parts()) })").end, R"(value "?")");
  EXPECT_EQ(run_parts(R"(fn main() -> String { shown(("a" + read_inbox() + "b").parts()) })").end, R"(value "?")");
  EXPECT_EQ(run_parts(R"(fn main() -> String { shown(Map::from([(read_inbox(), 1)]).parts()) })").end, R"(value "?")");
  EXPECT_EQ(run_parts(R"(fn main() -> String { shown(Map::from([("a", read_inbox())]).parts()) })").end,
            R"(value "{<a>:?}")");
  EXPECT_EQ(run_parts(R"(fn main() -> String { shown((if is_urgent() { Some(1) } else { None }).parts()) })").end,
            R"(value "?")");
  EXPECT_EQ(run_parts(R"(fn main() -> i32 { read_inbox().split(",").parts().len() })").label, "program");
}

TEST(Parts, ADecisionLabelsTextsThatHadLabelsBefore) {
  const test::RunRecord record = run_parts(R"(
    fn main() -> String {
        let text = "a" + read_inbox()
        if is_urgent() { text = "b" + read_inbox() }
        shown(text.parts())
    })");
  EXPECT_EQ(record.end, R"(value "?")");
  EXPECT_THAT(run_parts(R"(
    fn main() -> Boolean {
        let is_known = true
        if is_urgent() { is_known = "a".is_trusted() }
        is_known
    })")
                  .label,
              HasSubstr("is_urgent"));
}

TEST(Parts, NothingAndPlainValuesHaveOne) {
  EXPECT_EQ(run_parts(R"(fn main() -> i32 { ().parts().len() })").end, "value 1");
  EXPECT_EQ(run_parts(R"(fn main() -> String { shown(7.parts()) })").end, R"(value "7")");
  EXPECT_EQ(run_parts(R"(fn main() -> String { shown("a \"b\"".parts()) })").end, R"(value "<a \"b\">")");
  EXPECT_EQ(run_parts(R"(fn main() -> String { shown([None, Some("x")].parts()) })").end, R"(value "[null,<x>]")");
}

TEST(ToolByName, IsCalledWithTexts) {
  EXPECT_EQ(run_parts(R"(
    fn add(x: i32, y: i32?, name: String?, size: "s" | "m") -> String { "{{ x }} {{ y }} {{ name }} {{ size }}" }
    fn main() -> String {
        shown(tools { add }.call("add", Map::from([("x", "2"), ("name", "7"), ("size", "m")])).unwrap())
    })")
                .end,
            R"(value "<2 null 7 m>")");
}

TEST(ToolByName, ArgumentsThatDoNotFitFail) {
  const auto end_of = [](std::string_view call) {
    return run_parts("fn main() -> List<String> { tools { send_mail }." + std::string(call) + ".unwrap() }").end;
  };
  EXPECT_THAT(end_of(R"(call("send", Map::new()))"),
              HasSubstr("failed Index: the set has no tool \"send\"; its tools are send_mail"));
  EXPECT_THAT(end_of(R"(call("send_mail", Map::from([("to", "ann")])))"),
              HasSubstr("failed Conversion: `send_mail`: `body` is missing"));
  EXPECT_THAT(end_of(R"(call("send_mail", Map::from([("too", "ann")])))"),
              HasSubstr("`send_mail`: it has no parameter \"too\""));
  EXPECT_THAT(end_of(R"(call("send_mail", Map::from([("to", "ann"), ("body", ""), ("copies", "x")])))"),
              HasSubstr("failed Conversion: `send_mail`: `copies`: "));
}

TEST(ToolByName, ArgumentsKeepTheirLabels) {
  const test::RunRecord record = run_parts(R"(
    fn main() -> String {
        let all = tools { send_mail, read_inbox }
        let mail = all.call("read_inbox", Map::new()).unwrap()
        let sent = all.call("send_mail", Map::from([("to", "ann"), ("body", mail[1])])).unwrap()
        shown(sent)
    })");
  EXPECT_EQ(record.end, R"(value "?")");
  EXPECT_EQ(record.label, "program");
  EXPECT_THAT(run_parts(R"(
    fn main() -> String {
        let all = tools { send_mail, read_inbox }
        let mail = all.call("read_inbox", Map::new()).unwrap()
        shown(all.call("send_mail", Map::from([("to", mail[1]), ("body", "")])).unwrap())
    })")
                  .end,
              HasSubstr("failed Untrusted: `to` of `send_mail` must only depend on what is trusted"));
}

TEST(ToolByName, TheNameIsADecision) {
  EXPECT_THAT(run_parts(R"(
    fn main() -> String {
        let all = tools { send_mail }
        shown(all.call(read_inbox(), Map::from([("to", "ann"), ("body", "")])).unwrap())
    })",
                        {"send_mail"})
                  .end,
              HasSubstr("failed Untrusted: whether `send_mail` is called"));
}

TEST(ToolByName, ARefusalDoesNotSayWhatWasRefused) {
  const test::RunRecord record = run_parts(R"(
    fn main() -> String {
        let all = tools { send_mail, read_inbox }
        let mail = all.call("read_inbox", Map::new()).unwrap()
        match all.call("send_mail", Map::from([("to", mail[1]), ("body", "")])) {
            Ok(_) => ""
            Err(failure) => failure.message
        }
    })");
  EXPECT_EQ(record.label, "program");
  EXPECT_THAT(record.end, HasSubstr("depends on extern read_inbox"));
}

TEST(ToolByName, AFailureOfTheToolIsAResult) {
  const test::RunRecord record = run_parts(R"(
    fn main() -> String {
        let all = tools { read_inbox }
        match all.call("read_inbox", Map::new()) {
            Ok(_) => "read"
            Err(failure) => failure.message
        }
    })",
                                           {"", true});
  EXPECT_EQ(record.end, R"(value "no")");
  EXPECT_EQ(record.label, "extern read_inbox");
}

TEST(ToolByName, WhetherATextMatchesIsNoReasonToFail) {
  const auto run_with = [](std::string_view test) {
    return run_parts("fn count() -> i32 { if " + std::string(test) + R"( { 1 } else { 2 } }
    fn main() -> Boolean { tools { count, send_mail }.call("count", Map::new()).unwrap().len().is_trusted() })");
  };
  EXPECT_EQ(run_with(R"(read_inbox().matches("[a-z]+"))").end, "value true");
  EXPECT_EQ(run_with(R"("eve".matches(read_inbox()))").end, "value false") << "the pattern can be faulty";
}

TEST(ToolByName, SignaturesHaveTheirComments) {
  EXPECT_EQ(run_parts(R"(fn main() -> List<String> { tools { send_mail(_, "hello", _) }.signatures() })").end,
            R"(value ["send_mail(to: trusted String, copies: Option<i32>) -> String // Sends a mail."])");
}

}  // namespace
}  // namespace tenon
