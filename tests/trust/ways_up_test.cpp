// What makes a value trusted: a program that vouches for what an extern returns, a narrow answer, an endorsement. Each
// program passes something to `sink`, and says which label that call must have, or how it ends.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "tests/support/machine_run.h"
#include "tests/support/program_image.h"
#include "tests/trust/labels_of_calls.h"

namespace tenon {
namespace {

using testing::HasSubstr;

constexpr std::string_view payment_externs = R"(
struct Sender { name: String, iban: trusted String }
struct Payment { id: trusted i64, subject: String, sender: Sender?, notes: List<String> }
extern fn word() -> String
extern fn code(of: String) -> trusted String
extern fn payments() -> List<Payment>
extern fn by_name() -> Map<Payment>
extern fn found() -> Result<Payment>
extern fn missed() -> Result<Payment>
extern fn sink(text: String)
extern fn safe(text: trusted String)
extern fn ask_before(text: trusted String else approve, note: String) -> String
)";

types::TypeId struct_named(const bytecode::Program& program, std::string_view name) {
  for (types::TypeId type{0}; type.index < program.types.size(); ++type.index) {
    if (program.types.kind(type) == types::TypeKind::Struct && program.types.struct_type(type).name == name)
      return type;
  }
  return {};
}

vm::Value sender(const bytecode::Program& program) {
  return vm::Value::record(struct_named(program, "Sender"), {vm::Value::string("eve"), vm::Value::string("DE89")});
}

vm::Value payment(const bytecode::Program& program) {
  return vm::Value::record(struct_named(program, "Payment"),
                           {vm::Value::integer(7), vm::Value::string("attack"), vm::Value::some(sender(program)),
                            vm::Value::list({vm::Value::string("a")})});
}

vm::Outcome answer_bank(vm::Machine& machine, const vm::Request& request) {
  const auto returns = [](vm::Value value) { return vm::Outcome{vm::ReturnedValue{std::move(value)}, {}}; };
  const bytecode::Program& program = machine.program().program();
  if (request.kind == vm::RequestKind::Complete) {
    const types::TypeId type = program.sites[request.subject].result;
    return returns(type == types::TypeTable::boolean ? vm::Value::boolean(true) : vm::Value::string("yes"));
  }
  const std::string& name = program.externs[request.subject].name;
  if (name == "approve" && request.arguments[1].as_text() == "No?") return returns(vm::Value::none());
  if (name == "approve") return returns(vm::Value::some(request.arguments[0]));
  if (name == "ask_before") return returns(vm::Value::string("done"));
  if (name == "ask") return returns(sender(program));
  if (name == "payments") return returns(vm::Value::list({payment(program)}));
  if (name == "by_name") return returns(vm::Value::map({{vm::Value::string("attack"), payment(program)}}));
  if (name == "found") return returns(vm::Value::ok(payment(program)));
  if (name == "missed") {
    return returns(vm::Value::err(vm::Value::failure(types::FailureKind::ToolFailed, "attack", "", "")));
  }
  if (name == "word" || name == "code") return returns(vm::Value::string("attack"));
  return returns(vm::Value::unit());
}

struct WayUp {
  std::string_view name;
  std::string_view text;
  std::string_view expected;  ///< the label of each call of `sink`, or a part of how the run ends
};

class WaysUp : public testing::TestWithParam<WayUp> {};

TEST_P(WaysUp, TheLabelSaysHow) {
  const auto image = test::make_image(std::string(payment_externs) + std::string(GetParam().text));
  const bytecode::Program& program = image->program();
  const auto main = std::ranges::find(program.functions, "main", &bytecode::Function::name);
  const std::vector<vm::Argument> arguments(main->parameters.size(), {vm::Value::empty_context(), {}});
  const test::RunRecord record = test::run(image->loaded(), arguments, answer_bank, {},
                                           static_cast<std::uint32_t>(main - program.functions.begin()));
  const std::string labels = test::labels_of_calls(record, program, "sink");
  EXPECT_THAT(labels + "\n" + record.end, HasSubstr(GetParam().expected)) << record.requests;
}

TEST(WaysUpTest, AnApprovalIsOfOneCallAlone) {
  // The budget of one of these is spent between the approval and the call.
  for (int instructions = 1; instructions < 40; ++instructions) {
    const std::string text =
        "fn asks(word: String) { ask_before(word, \"\") }\n"
        "fn main() { let w = word(); asks(w) budget(instructions: " +
        std::to_string(instructions) + ") catch _ { safe(w) } }";
    const auto image = test::make_image(std::string(payment_externs) + text);
    const bytecode::Program& program = image->program();
    const auto main = std::ranges::find(program.functions, "main", &bytecode::Function::name);
    const test::RunRecord record =
        test::run(image->loaded(), {}, answer_bank, {}, static_cast<std::uint32_t>(main - program.functions.begin()));
    EXPECT_EQ(test::labels_of_calls(record, program, "safe"), "") << instructions << '\n' << record.end;
    EXPECT_THAT(record.end, testing::Not(HasSubstr("damaged")));
  }
}

// clang-format off
constexpr WayUp ways[] = {
  {"a_vouched_result", R"(fn main() { sink(code("a")) })", "program\nvalue"},
  {"a_vouched_result_of_what_is_not_trusted", R"(fn main() { sink(code(word())) })", "extern word\nvalue"},
  {"a_vouched_result_in_an_if", R"(fn main() { if word() == "attack" { sink(code("a")) } })", "extern word\nvalue"},
  {"a_vouched_field", R"(fn main() { sink("{{ payments()[0].id }}") })", "program\nvalue"},
  {"a_field_beside_it", R"(fn main() { sink(payments()[0].subject) })", "extern payments\nvalue"},
  {"a_list_beside_it", R"(fn main() { let p = payments()[0]; sink("{{ p.notes.len() }}"); sink(p.notes[0]) })", "extern payments; extern payments\nvalue"},
  {"a_vouched_field_within", R"(fn main() { let s = payments()[0].sender.unwrap(); sink(s.iban); sink(s.name) })", "program; extern payments\nvalue"},
  {"a_field_of_a_result", R"(fn main() { match found() { Ok(p) => { sink("{{ p.id }}"); sink(p.subject) }, Err(_) => sink("none") } })", "program; extern found\nvalue"},
  {"a_failure_as_a_result", R"(fn main() { match missed() { Ok(_) => sink("one"), Err(f) => sink(f.message) } })", "extern missed\nvalue"},
  {"what_a_person_says", R"(fn main() { let p = ask<Sender>("Who?"); sink(p.iban) })", "person\nvalue"},
  {"a_key_of_a_map", R"(fn main() { let m = by_name(); sink("{{ m.len() }}"); sink(m.keys()[0]); for (_, p) in m { sink("{{ p.id }}") } })", "program; extern by_name; program\nvalue"},
  {"how_many_there_are", R"(fn main() { sink("{{ payments().len() }}") })", "program\nvalue"},
  {"the_whole_of_it", R"(fn main() { sink("{{ payments() }}") })", "extern payments\nvalue"},
  {"what_a_model_sees_of_it", R"(fn yes(ctx: Context) -> String { payments()! } fn main() { sink(yes(Context::new())) })", "extern payments, model\nvalue"},
  {"a_loop_over_them", R"(fn main() { for p in payments() { sink("{{ p.id }}"); sink(p.subject) } })", "program; extern payments\nvalue"},
  {"a_changed_field", R"(fn main() { let p = payments()[0]; p.id = word().len() as i64; sink("{{ p.id }}") })", "extern word\nvalue"},
  {"a_narrow_answer", R"(fn is_good(ctx: Context) -> trusted "yes" | "no" { word()! } fn main() { sink(is_good(Context::new())) })", "narrow answer of is_good\nvalue"},
  {"a_narrow_answer_decides", R"(fn is_good(ctx: Context) -> trusted Boolean { word()! } fn main() { if is_good(Context::new()) { safe("a"); sink("b") } })", "narrow answer of is_good\nvalue"},
  {"a_narrow_answer_in_an_if", R"(fn is_good(ctx: Context) -> trusted "yes" | "no" { "Good?"! }
    fn main() { let x = "no"; if word() == "attack" { x = is_good(Context::new()) }; sink(x) }
  )", "extern word, narrow answer of is_good\nvalue"},
  {"bits_of_the_run", R"(fn is_good(ctx: Context) -> trusted Boolean { word()! }
    fn main() { for _ in 0..17 { if is_good(Context::new()) { } } }
  )", "failed BudgetSpent: the budget of 16 bits of the run is spent; say with `budget(bits: …)` how much"},
  {"bits_of_a_budget", R"(fn is_good(ctx: Context) -> trusted "yes" | "no" | "maybe" { word()! }
    fn twice() -> String { is_good(Context::new()) + is_good(Context::new()) }
    fn main() { sink(twice() budget(bits: 3)) }
  )", "failed BudgetSpent: the budget of 3 bits set at program.tn:"},
  {"bits_of_the_innermost_budget", R"(fn is_good(ctx: Context) -> trusted Boolean { word()! }
    fn often() { for _ in 0..20 { if is_good(Context::new()) { } } }
    fn main() { often() budget(bits: 20); if is_good(Context::new()) { sink("b") } }
  )", "narrow answer of is_good\nvalue"},
  {"a_return_that_is_not_trusted", R"(fn good(text: String) -> trusted String { if text.is_empty() { return "none" }; text } fn main() { sink(good(word())) })", "failed Untrusted: the value of `good` must only depend on what is trusted, and depends on extern word"},
  {"a_return_in_an_if", R"(fn good(text: String) -> trusted String { if text.is_empty() { return "none" }; "some" } fn main() { sink(good(word())) })", "failed Untrusted: the value of `good` must"},
  {"a_return_that_is", R"(fn good(text: String) -> trusted String { if text.is_empty() { return "none" }; "some" } fn main() { sink(good("x")) })", "program\nvalue"},
  {"a_trusted_parameter", R"(fn greet(name: trusted String) { sink(name) } fn main() { greet("ann"); greet(word()) })", "program\nfailed Untrusted: `name` of `greet` must only depend on what is trusted, and depends on extern word"},
  {"an_endorsement", R"(fn main() { let x = endorse(word(), "it is only shown"); safe(x); sink(x) })", "endorsed as it is only shown\nvalue"},
  {"an_endorsed_list", R"(fn main() { let x = endorse(word().split(""), "all of it"); sink(x[1]); sink("{{ x.len() }}") })", "endorsed as all of it; endorsed as all of it\nvalue"},
  {"an_endorsement_in_an_if", R"(fn main() { let x = "no"; if word() == "attack" { x = endorse("yes", "why") }; sink(x) })", "extern word, endorsed as why\nvalue"},
  {"a_text_with_an_endorsed_part", R"(fn main() { let w = word(); sink("{{ endorse(w, "why") }} {{ w }}"); sink(w) })", "extern word, endorsed as why; extern word\nvalue"},
  {"an_approval", R"(fn main() { let x = approve(word(), "Yes?"); safe(x); sink(x) })", "approved\nvalue"},
  {"an_approved_list", R"(fn main() { let x = approve(payments(), "Yes?"); sink(x[0].subject) })", "approved\nvalue"},
  {"a_refusal", R"(fn main() { sink(approve(word(), "No?")) })", "failed Refused: a person does not approve of the value (program.tn:13:18; person)"},
  {"what_a_refusal_decides", R"(fn main() { let x = "yes"; approve(word(), "No?") catch _ { x = "no"; "" }; sink(x) })", "extern word, person\nvalue"},
  {"an_approval_in_an_if", R"(fn main() { if word() == "attack" { sink(approve("a", "Yes?")) } })", "extern word, approved\nvalue"},
  {"a_call_that_is_asked_for", R"(fn main() { sink(ask_before(word(), word())) })", "approved, extern ask_before\nvalue"},
  {"a_call_that_needs_no_question", R"(fn main() { sink(ask_before("a", word())) })", "extern word, extern ask_before\nvalue"},
  {"a_decision_that_is_asked_for", R"(fn main() { if word() == "attack" { ask_before("a", "b"); sink("x") } })", "extern word\nvalue"},
  {"two_calls_are_two_questions", R"(fn main() { for w in [word(), word()] { ask_before(w, "") }; sink("x") })", "program\nvalue"},
};
// clang-format on

INSTANTIATE_TEST_SUITE_P(Programs, WaysUp, testing::ValuesIn(ways),
                         [](const testing::TestParamInfo<WayUp>& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace tenon
