// Programs that try to lose the label of what came from outside. Each passes something to `sink`, and says which label
// that call must have. They run straight and with a snapshot after every instruction, and both must agree.

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

using test::RunRecord;

constexpr std::string_view externs = R"(
extern fn flag() -> Boolean
extern fn count() -> i32
extern fn word() -> String
extern fn words() -> List<String>
extern fn table() -> Map<String, i32>
extern fn maybe() -> String?
extern fn broken() -> String
extern fn sink(text: String)
)";

struct Case {
  std::string_view name;
  std::string_view text;      ///< functions and agents; `main` is called without arguments but for its context
  std::string_view expected;  ///< the label of each call of `sink`, in order, separated by `; `
};

vm::Outcome answer(vm::Machine& machine, const vm::Request& request) {
  const bytecode::Program& program = machine.program().program();
  const auto returns = [](vm::Value value) { return vm::Outcome{vm::ReturnedValue{std::move(value)}, {}}; };
  switch (request.kind) {
    case vm::RequestKind::Complete: {
      const types::TypeId type = program.sites[request.subject].result;
      return returns(type == types::TypeTable::boolean ? vm::Value::boolean(true) : vm::Value::string("said"));
    }
    case vm::RequestKind::Fill: {
      const std::size_t holes = program.sites[request.subject].call.holes.size();
      return {vm::FilledArguments{std::vector<vm::Value>(holes, vm::Value::string("filled"))}, {}};
    }
    case vm::RequestKind::Select:
      return {vm::SelectedClause{0, {}}, {}};
    case vm::RequestKind::Extern:
      break;
  }
  const std::string& name = program.externs[request.subject].name;
  if (name == "flag") return returns(vm::Value::boolean(true));
  if (name == "count") return returns(vm::Value::integer(3));
  if (name == "word") return returns(vm::Value::string("attack"));
  if (name == "words") return returns(vm::Value::list({vm::Value::string("a"), vm::Value::string("b")}));
  if (name == "table") return returns(vm::Value::map({{vm::Value::string("a"), vm::Value::integer(1)}}));
  if (name == "maybe") return returns(vm::Value::some(vm::Value::string("attack")));
  if (name == "broken") return {vm::EffectFailure{types::FailureKind::ToolFailed, "attack", ""}, {}};
  return returns(vm::Value::unit());
}

class Laundering : public testing::TestWithParam<Case> {};

TEST_P(Laundering, TheLabelStays) {
  const auto image = test::make_image(std::string(externs) + std::string(GetParam().text));
  const bytecode::Program& program = image->program();
  const auto main = std::ranges::find(program.functions, "main", &bytecode::Function::name);
  ASSERT_NE(main, program.functions.end());
  std::vector<vm::Argument> arguments;
  for (const types::TypeId type : main->parameters) {
    ASSERT_EQ(type, types::TypeTable::context);
    arguments.push_back({vm::Value::empty_context(), {}});
  }
  const RunRecord record =
      test::run(image->loaded(), arguments, answer, {}, static_cast<std::uint32_t>(main - program.functions.begin()));
  EXPECT_EQ(test::labels_of_calls(record, program, "sink"), GetParam().expected) << record.end << '\n'
                                                                                 << record.requests;
}

// clang-format off
constexpr Case cases[] = {
  {"an_if", R"(fn main() { let x = "no"; if flag() { x = "yes" }; sink(x) })", "extern flag"},
  {"an_if_not_taken", R"(fn main() { let x = "no"; if !flag() { x = "yes" }; sink(x) })", "extern flag"},
  {"an_if_with_a_value", R"(fn main() { sink(if flag() { "yes" } else { "no" }) })", "extern flag"},
  {"a_call_in_an_if", R"(fn main() { if flag() { sink("yes") } })", "extern flag"},
  {"what_follows_an_if", R"(fn main() { if flag() { 1 } else { 2 }; sink("always") })", "program"},
  {"what_an_if_leaves_alone", R"(fn main() { let x = "a"; let y = "b"; if flag() { y = "c" }; sink(x); sink(y) })", "program; extern flag"},
  {"nested_ifs", R"(fn main() { let x = "a"; if flag() { if count() > 2 { x = "b" }; sink("in") }; sink(x) })", "extern flag; extern flag, extern count"},
  {"a_match", R"(fn main() { sink(match word() { "attack" => "attack", "peace" => "peace", _ => "other" }) })", "extern word"},
  {"a_match_on_an_option", R"(fn main() { let n = match maybe() { Some(_) => "one", None => "none" }; sink(n) })", "extern maybe"},
  {"an_if_let", R"(fn main() { let n = "none"; if let Some(_) = maybe() { n = "one" }; sink(n) })", "extern maybe"},
  {"letter_by_letter", R"(
    fn main() {
      let copy = ""
      for c in word().chars() {
        for letter in "abcdefghijklmnopqrstuvwxyz".chars() { if c == letter { copy += letter } }
      }
      sink(copy)
    })", "extern word"},
  {"a_count_of_a_loop", R"(fn main() { let n = 0; for _ in words() { n += 1 }; sink(n.to_string()) })", "extern words"},
  {"a_count_of_a_range", R"(fn main() { let n = 0; for _ in 0..count() { n += 1 }; sink(n.to_string()) })", "extern count"},
  {"a_count_of_a_while", R"(fn main() { let i = 0; let text = ""; let n = count(); while i < n { i += 1; text += "x" }; sink(text) })", "extern count"},
  {"a_loop_over_a_map", R"(fn main() { let n = 0; for (_, _) in table() { n += 1 }; sink(n.to_string()) })", "extern table"},
  {"a_break", R"(fn main() { let n = 0; for i in 0..10 { if i == count() { break }; n = i }; sink(n.to_string()) })", "extern count"},
  {"a_continue", R"(fn main() { let n = 0; for i in 0..3 { if i == count() { continue }; n += 1 }; sink(n.to_string()) })", "extern count"},
  {"and", R"(fn main() { let b = flag() && true; sink(if b { "y" } else { "n" }) })", "extern flag"},
  {"or", R"(fn main() { let b = flag() || false; sink(if b { "y" } else { "n" }) })", "extern flag"},
  {"or_else", R"(fn main() { let x = maybe() ?? "nothing"; sink(x) })", "extern maybe"},
  {"a_filter", R"(fn main() { let n = [1, 2, 3].filter(|x| x < count()).len(); sink(n.to_string()) })", "extern count"},
  {"any", R"(fn main() { let b = ["a", "attack"].any(|x| x == word()); sink(if b { "y" } else { "n" }) })", "extern word"},
  {"a_fold", R"(fn main() { let n = words().fold(0, |sum, _| sum + 1); sink(n.to_string()) })", "extern words"},
  {"a_map", R"(fn main() { let n = words().map(|_| 1).len(); sink(n.to_string()) })", "extern words"},
  {"a_function_that_decides", R"(
    fn choose(b: Boolean) -> String { if b { return "yes" }; "no" }
    fn main() { sink(choose(flag())) })", "extern flag"},
  {"an_early_return", R"(
    fn leave() -> String { if flag() { return "left" }; sink("stayed"); "end" }
    fn main() { sink(leave()) })", "extern flag"},
  {"an_early_return_not_taken", R"(
    fn leave() -> String { if !flag() { return "left" }; sink("stayed"); "end" }
    fn main() { sink(leave()); sink("after") })", "extern flag; extern flag; program"},
  {"a_function_that_is_called_in_an_if", R"(
    fn inner() { sink("in a callee") }
    fn main() { if flag() { inner() }; inner() })", "extern flag; program"},
  {"a_catch", R"(fn main() { let x = "fine"; broken() catch _ { x = "failed"; "" }; sink(x) })", "extern broken"},
  {"a_catch_that_decides", R"(fn main() { broken() catch _ { sink("failed"); "" }; sink("after") })", "extern broken; program"},
  {"a_failure_by_decision", R"(
    fn check() -> i32 { if flag() { fail("set") }; 1 }
    fn main() { let x = "unset"; check() catch _ { x = "set"; 0 }; sink(x) })", "extern flag"},
  {"a_message_of_a_failure", R"(fn main() { broken() catch f { sink(f.message); "" } })", "extern broken"},
  {"a_division_by_zero", R"(fn main() { let x = "a"; let n = 1 / (count() - 3) catch _ { x = "b"; 0 }; sink(x) })", "extern count"},
  {"try", R"(fn main() { let n = match try broken() { Ok(_) => "ok", Err(_) => "err" }; sink(n) })", "extern broken"},
  {"a_template_with_an_if", R"(fn main() { let b = flag(); sink("{{ if b }}yes{{ else }}no{{ end }}") })", "extern flag"},
  {"a_template_with_a_loop", R"(fn main() { let w = words(); sink("{{ for x in w }}.{{ end }}") })", "extern words"},
  {"finally", R"(fn main() { let x = "a"; { if flag() { x = "b" } } finally { sink("always") }; sink(x) })", "program; extern flag"},
  {"a_finally_of_a_failure", R"(fn main() { { broken(); 1 } finally { sink("cleaned") } catch _ { 0 } })", "extern broken"},
  {"a_parallel_block_in_an_if", R"(fn main() { if flag() { parallel {
    sink("a")
    sink("b")
  } }; sink("c") })", "extern flag; extern flag; program"},
  {"a_branch_that_decides", R"(
    fn pick() -> String { if flag() { "yes" } else { "no" } }
    fn main() { let (a, b) = parallel {
      pick()
      "b"
    }; sink(a); sink(b) })", "extern flag; program"},
  {"a_parallel_loop", R"(fn main() { let all = for _ in words() parallel(2) { 1 }; sink(all.len().to_string()) })", "extern words"},
  {"calls_in_a_parallel_loop", R"(fn main() { for _ in words() parallel(2) { sink("called") } })", "extern words; extern words"},
  {"a_budget_that_was_spent_before", R"(
    fn spend() -> i32 { for _ in 0..(count() * 20) { 1 }; for _ in 0..1000 { 1 }; 0 }
    fn main() { let x = "a"; spend() budget(instructions: 400) catch _ { x = "spent"; 0 }; sink(x) })", "extern count"},
  {"a_budget_of_calls_that_was_spent_before", R"(
    fn ask(ctx: Context) -> String { word()! }
    fn spend() -> String { if flag() { ask(Context::new()) }; ask(Context::new()); ask(Context::new()) }
    fn main() { let x = "a"; spend() budget(calls: 2) catch _ { x = "spent"; "" }; sink(x) })",
    "extern flag, extern word, model"},
  {"an_own_context", R"(
    fn ask(ctx: Context) -> Boolean { "Is it so?"! }
    fn main(ctx: Context) { if flag() { "more"! }; sink(if ask(ctx) { "y" } else { "n" }) })", "extern flag, model"},
  {"a_length_of_a_context", R"(fn main(ctx: Context) { if flag() { "more"! }; sink(ctx.len().to_string()) })", "extern flag"},
  {"a_condition_of_a_model", R"(
    fn ask(ctx: Context) -> Boolean { word()! }
    fn main() { if ask(Context::new()) { sink("y") } })", "extern word, model"},
  {"a_request_in_an_if", R"(
    fn ask(ctx: Context) -> String { "Say something"! }
    fn main() { let x = "none"; if flag() { x = ask(Context::new()) }; sink(x) })", "extern flag, model"},
  {"a_select", R"(
    fn first() -> i32 { 1 }
    fn second() -> i32 { 2 }
    fn main(ctx: Context) { word()!; select {
      first() => sink("first")
      second() => sink("second")
    }; sink("after") })",
    "extern word, model; program"},
  {"a_hole", R"(fn main(ctx: Context) { word()!; sink(_) })", "extern word, model"},
  {"a_recursion", R"(
    fn down(n: i32) -> i32 { if n == 0 { 0 } else { 1 + down(n - 1) } }
    fn main() { sink(down(count()).to_string()) })", "extern count"},
  {"a_spent_budget", R"(
    fn spin() -> i32 { let i = 0; let n = count(); while n > 0 { i += 1 }; i }
    fn main() { let x = "a"; spin() budget(instructions: 1000) catch _ { x = "spent"; 0 }; sink(x) })", "extern count"},
  {"an_entry_of_a_state", R"(
    agent Desk {
      state { seen: String = "no", other: String = "kept" }
      fn turn(ctx: Context, input: String) -> String {
        if flag() { note() }
        sink(state.seen)
        sink(state.other)
        "done"
      }
      fn note() { state.seen = "yes" }
    }
    fn main() { Desk::run("hello") })", "extern flag; program"},
  {"a_state_in_a_callee_that_returns_early", R"(
    agent Desk {
      state { seen: String = "no" }
      fn turn(ctx: Context, input: String) -> String { note(); sink(state.seen); "done" }
      fn note() { if !flag() { return }; state.seen = "yes" }
    }
    fn main() { Desk::run("hello") })", "extern flag"},
  {"an_agent_in_an_if", R"(
    agent Desk { fn turn(ctx: Context, input: String) -> String { sink("in an agent"); "done" } }
    fn main() { if flag() { Desk::run("hello") }; Desk::run("again") })", "extern flag; program"},
  {"an_item_at_a_place", R"(fn main() { sink(["a", "b", "c", "d"][count()]) })", "extern count"},
  {"an_assignment_at_a_place", R"(fn main() { let l = ["a", "b", "c", "d"]; l[count()] = "x"; sink(l[0]) })", "extern count"},
  {"a_key_of_a_map", R"(fn main() { let m = Map::from([("a", 1)]); m[word()] = 2; sink(m.len().to_string()) })", "extern word"},
  {"a_key_that_is_not_there_to_remove", R"(fn main() { let m = Map::from([("a", 1)]); m.remove(word()); sink(m.len().to_string()) })", "extern word"},
  {"names_of_tools_that_are_kept", R"(
    fn f() -> String { "f" }
    fn main() { sink(tools { f as peace, f as attack }.only([word()]).names().join(",")) })", "extern word"},
  {"names_of_tools_that_are_left_out", R"(
    fn f() -> String { "f" }
    fn main() { sink(tools { f as peace, f as attack }.without([word()]).names().join(",")) })", "extern word"},
  {"a_name_of_no_tool", R"(
    fn f() -> String { "f" }
    fn main() {
      let x = "there"; let t = tools { f as peace }
      t = t.only(["peace", word()]) catch _ { x = "not there"; t }
      sink(x)
    })", "extern word"},
  {"what_was_said_already", R"(
    agent B { fn turn(ctx: Context, input: String) -> String { sink("{{ ctx.len() }}"); "b" } }
    agent A { fn turn(ctx: Context, input: String) -> String { B::handoff(word()) } }
    fn main() { A::run("attack") })", "extern word"},
  {"work_that_a_budget_was_spent_on", R"(
    fn work(n: i32) -> i32 { "attack".repeat(n * 2000).len(); for _ in 0..50 { 1 }; 0 }
    fn main() { let x = "left"; work(count()) budget(instructions: 400) catch _ { x = "spent"; 0 }; sink(x) })",
    "extern count"},
  {"a_role_of_an_entry", R"(fn main(ctx: Context) {
    ctx.inject_as(if flag() { "user" } else { "system" }, "text"); sink(ctx.entries()[0].role) })", "extern flag"},
};
// clang-format on

INSTANTIATE_TEST_SUITE_P(Programs, Laundering, testing::ValuesIn(cases),
                         [](const testing::TestParamInfo<Case>& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace tenon
