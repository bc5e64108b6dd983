// Calls that act: what is refused, what is not, and that nothing of a refused call leaves the machine.

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

constexpr std::string_view mail_externs = R"(
extern fn read_inbox() -> String
extern fn is_urgent() -> Boolean
extern fn send_mail(to: trusted String, body: String) -> String
extern(acts) fn clear_inbox() -> ()
)";

vm::Outcome answer_call(vm::Machine& machine, const vm::Request& request) {
  const auto returns = [](vm::Value value) { return vm::Outcome{vm::ReturnedValue{std::move(value)}, {}}; };
  if (request.kind == vm::RequestKind::Complete) return returns(vm::Value::string("ann"));
  if (request.kind == vm::RequestKind::Fill) return {vm::FilledArguments{{vm::Value::string("eve")}}, {}};
  if (request.kind == vm::RequestKind::Select) return {vm::SelectedClause{0, {}}, {}};
  const bytecode::Extern& callee = machine.program().program().externs[request.subject];
  if (callee.name == "is_urgent") return returns(vm::Value::boolean(true));
  return returns(callee.result == types::TypeTable::string ? vm::Value::string("eve") : vm::Value::unit());
}

test::RunRecord run(std::string_view text, std::vector<vm::Argument> arguments = {}) {
  const auto image = test::make_image(std::string(mail_externs) + std::string(text));
  const bytecode::Program& program = image->program();
  const auto main = std::ranges::find(program.functions, "main", &bytecode::Function::name);
  for (std::size_t at = arguments.size(); at < main->parameters.size(); ++at) {
    arguments.push_back({vm::Value::empty_context(), {}});
  }
  return test::run(image->loaded(), arguments, answer_call, {},
                   static_cast<std::uint32_t>(main - program.functions.begin()));
}

TEST(Sinks, AnArgumentFromOutsideIsRefused) {
  const test::RunRecord record = run(R"(fn main() -> String { send_mail(read_inbox(), "hello") })");
  EXPECT_THAT(
      record.end,
      HasSubstr("failed Untrusted: `to` of `send_mail` must only depend on what is trusted, and depends on extern "
                "read_inbox (program.tn:6:"));
  EXPECT_THAT(record.end, HasSubstr("; send_mail)"));
  EXPECT_EQ(record.requests, "0 extern 0 [program]\n") << "nothing leaves";
}

TEST(Sinks, OtherParametersTakeAnything) {
  const test::RunRecord record = run(R"(fn main() -> String { send_mail("ann", read_inbox()) })");
  EXPECT_EQ(record.end, "value \"eve\"");
}

TEST(Sinks, WhatAModelFillsInIsAsGoodAsWhatItSaw) {
  EXPECT_THAT(run(R"(fn main(ctx: Context) -> String { read_inbox()!
                    send_mail(_, "hello") })")
                  .end,
              HasSubstr("depends on extern read_inbox"));
  EXPECT_EQ(run(R"(fn main(ctx: Context) -> String { "Write to Ann"!
                    send_mail(_, "hello") })")
                .end,
            "value \"eve\"");
}

std::string end_after(std::string_view handler) {
  return run(R"(fn check() { if is_urgent() { fail("urgent") } }
                fn main() -> String {
                  let is_done = false
                  { check() catch _ { )" +
             std::string(handler) + R"( }
                    is_done = true } catch _ { }
                  if is_done { send_mail("ann", "hello") } else { "" }
                })")
      .end;
}

TEST(Sinks, AFailureThatIsHandledWithinAnotherTrialSaysNothingAfterIt) {
  EXPECT_EQ(end_after(""), "value \"eve\"");
  // Whether it comes to the end depends on what the handler does.
  EXPECT_THAT(end_after("[0][read_inbox().len() % 1]"), HasSubstr("depends on extern"));
}

TEST(Sinks, TheDecisionToCallMustBeTrusted) {
  EXPECT_THAT(
      run(R"(fn main() -> String { if is_urgent() { send_mail("ann", "hello") } else { "" } })").end,
      HasSubstr("whether `send_mail` is called must only depend on what is trusted, and depends on extern is_urgent"));
  EXPECT_THAT(run(R"(fn main() { if is_urgent() { clear_inbox() } })").end,
              HasSubstr("whether `clear_inbox` is called"));
  EXPECT_EQ(run(R"(fn main() { if is_urgent() { "" } else { "." }; clear_inbox() })").end, "value null");
}

TEST(Sinks, AFrameTakesWhatItHasReadWithIt) {
  EXPECT_EQ(run(R"(
    fn summarize(ctx: Context) -> String { read_inbox()! }
    fn main() -> String { send_mail("ann", summarize(Context::new())) })")
                .end,
            "value \"eve\"");
}

TEST(Sinks, ARefusalCanBeCaughtAndSaysNothingOfTheText) {
  const test::RunRecord record =
      run(R"(fn main() -> String { send_mail(read_inbox(), "hello") catch f { f.message } })");
  EXPECT_THAT(record.end, testing::Not(HasSubstr("eve")));
  EXPECT_EQ(record.label, "program") << "labels do not depend on it either";
}

TEST(Sinks, ArgumentsOfARunAreTrustedAndPersonsAreNot) {
  const auto argument = [](vm::Source source) {
    return std::vector<vm::Argument>{{vm::Value::string("ann"), std::move(source)}};
  };
  constexpr std::string_view program = R"(fn main(to: String) -> String { send_mail(to, "hello") })";
  EXPECT_EQ(run(program, argument({vm::SourceKind::Argument, "to"})).end, "value \"eve\"");
  EXPECT_THAT(run(program, argument({vm::SourceKind::Person, ""})).end, HasSubstr("depends on person"));
  EXPECT_THAT(run(program, argument({vm::SourceKind::Unknown, ""})).end, HasSubstr("depends on unknown"));
  const std::string trusting = "trust person\n" + std::string(program);
  EXPECT_EQ(run(trusting, argument({vm::SourceKind::Person, ""})).end, "value \"eve\"");
}

/// In a loop that does not wait, each is kept once, and no more than so many.
TEST(Sinks, RefusalsAreCounted) {
  std::string text =
      std::string(mail_externs) + "fn main() -> String {\n    let mail = read_inbox()\n    for _ in 0..5 {\n";
  for (std::size_t line = 0; line < vm::refusals_max + 20; ++line)
    text += "        let _ = try send_mail(mail, \"\")\n";
  text += "    }\n    \"end\"\n}\n";
  const auto image = test::make_image(text);
  const auto main = std::ranges::find(image->program().functions, "main", &bytecode::Function::name);
  vm::Machine machine(image->loaded(), static_cast<std::uint32_t>(main - image->program().functions.begin()), {});
  EXPECT_TRUE(std::holds_alternative<vm::Waiting>(machine.run()));
  EXPECT_TRUE(machine.take_refusals().empty());
  const std::vector<vm::Request> requests = machine.take_requests();
  ASSERT_EQ(requests.size(), 1U);
  ASSERT_TRUE(machine.resume(requests[0].id, {vm::ReturnedValue{vm::Value::string("eve")}, {}}));
  EXPECT_TRUE(std::holds_alternative<vm::Finished>(machine.run()));
  const std::vector<vm::Refusal> refusals = machine.take_refusals();
  ASSERT_EQ(refusals.size(), vm::refusals_max);
  for (std::size_t at = 0; at < refusals.size(); ++at) {
    EXPECT_EQ(refusals[at].subject, "send_mail");
    EXPECT_EQ(refusals[at].what, "`to` of `send_mail`");
    EXPECT_THAT(refusals[at].sources, testing::ElementsAre("extern read_inbox"));
    EXPECT_EQ(refusals[at].place.line, refusals[0].place.line + at);
    EXPECT_EQ(refusals[at].times, 5U);
  }
  EXPECT_TRUE(machine.take_refusals().empty());
}

}  // namespace
}  // namespace tenon
