// What a conversation has for its next turns: the labels of what was decided in those before.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "runtime/conversation.h"
#include "tests/support/program_image.h"

namespace tenon {
namespace {

constexpr std::string_view turn_externs = R"(
trust person
extern fn flag() -> Boolean
extern fn word() -> String
extern fn sink(text: String)
extern fn pay(to: trusted String else approve)
)";

struct TurnCase {
  std::string_view name;
  std::string_view text;                 ///< agents; the first one has the first turn
  std::vector<std::string_view> inputs;  ///< one for each turn
  std::string_view expected;             ///< the label of each call of `sink`, separated by `; `; of turns, by `| `
};

class Turns : public testing::TestWithParam<TurnCase> {};

/// A call of `sink`.
struct Sunk {
  std::string label;
  std::string text;
};

/// Makes a turn. `says`: what `flag` says. Returns its calls of `sink`.
std::vector<Sunk> make_turn(runtime::Conversation& conversation, std::string_view input, bool says = true) {
  auto core = conversation.begin(input, {}, runtime::RunCore::Recording::Off);
  EXPECT_TRUE(core.has_value());
  vm::Machine& machine = (*core)->machine();
  const bytecode::Program& program = conversation.image()->program();
  std::vector<Sunk> sunk;
  vm::Step end = machine.run();
  for (; std::holds_alternative<vm::Waiting>(end); end = machine.run()) {
    for (const vm::Request& request : machine.take_requests()) {
      vm::Outcome outcome{vm::ReturnedValue{vm::Value::unit()}, {}};
      if (request.kind == vm::RequestKind::Complete) {
        outcome.what = vm::ReturnedValue{vm::Value::boolean(says)};
        EXPECT_TRUE(machine.resume(request.id, std::move(outcome)).has_value());
        continue;
      }
      const bytecode::Extern& callee = program.externs[request.subject];
      if (callee.name == "flag") outcome.what = vm::ReturnedValue{vm::Value::boolean(says)};
      if (callee.name == "word") outcome.what = vm::ReturnedValue{vm::Value::string(says ? "attack" : "")};
      if (callee.name == "sink") {
        sunk.push_back({machine.labels().describe(request.label), std::string(request.arguments[0].as_text())});
      }
      if (types::asks_person(callee.builtin_effect)) {
        vm::Value answer =
            vm::asks_approval(request, program) ? vm::Value::some(request.arguments[0]) : vm::Value::string("yes");
        if (request.depth == 0) {
          const runtime::Sources asked = runtime::sources_of(machine.labels(), request.label);
          conversation.add_answer(request, asked, answer);
        }
        outcome.what = vm::ReturnedValue{std::move(answer)};
      }
      if (callee.builtin_effect == types::BuiltinEffect::HandedOff && request.depth == 0) {
        conversation.hand_off(request.arguments[0].as_text());
      }
      EXPECT_TRUE(machine.resume(request.id, std::move(outcome)).has_value());
    }
  }
  const auto* const finished = std::get_if<vm::Finished>(&end);
  conversation.end(**core, finished == nullptr ? nullptr : &finished->value);
  return sunk;
}

/// The label of each, separated by `; `.
std::string labels_of(const std::vector<Sunk>& calls) {
  std::string labels;
  for (const Sunk& call : calls) labels += (labels.empty() ? "" : "; ") + call.label;
  return labels;
}

TEST_P(Turns, TheLabelsStay) {
  const auto image = test::make_image(std::string(turn_externs) + std::string(GetParam().text));
  runtime::Conversation conversation(image, 0);
  std::string labels;
  for (const std::string_view input : GetParam().inputs) {
    if (!labels.empty()) labels += "| ";
    labels += labels_of(make_turn(conversation, input));
  }
  EXPECT_EQ(labels, GetParam().expected);
}

const std::vector<TurnCase> turn_cases = {
    {"a_handoff_that_was_decided",
     R"(
      agent A { fn turn(ctx: Context, input: String) -> String { sink("a"); if flag() { B::handoff(input) }; "a" } }
      agent B { fn turn(ctx: Context, input: String) -> String { sink("b"); "b" } })",
     {"1", "2", "3"},
     "program; extern flag| extern flag| extern flag"},
    {"a_handoff_that_was_not_made",
     R"(
      agent A { fn turn(ctx: Context, input: String) -> String { sink("a"); if !flag() { B::handoff(input) }; "a" } }
      agent B { fn turn(ctx: Context, input: String) -> String { "b" } })",
     {"1", "2"},
     "program| extern flag"},
    {"a_handoff_that_the_person_decides",
     R"(
      agent A {
        fn turn(ctx: Context, input: String) -> String { sink("a"); if input == "b" { B::handoff(input) }; "a" }
      }
      agent B { fn turn(ctx: Context, input: String) -> String { sink("b"); "b" } })",
     {"1", "b", "3"},
     "program| person; person| person"},
    {"a_handoff_always",
     R"(
      agent A { fn turn(ctx: Context, input: String) -> String { sink("a"); B::handoff(input) } }
      agent B { fn turn(ctx: Context, input: String) -> String { sink("b"); "b" } })",
     {"1", "2"},
     "program; program| program"},
    {"a_handoff_back",
     R"(
      agent A { fn turn(ctx: Context, input: String) -> String { sink("a"); if flag() { B::handoff(input) }; "a" } }
      agent B { fn turn(ctx: Context, input: String) -> String { if input == "2" { A::handoff("x") }; "b" } })",
     {"1", "2", "3"},
     "program| person, extern flag| "},
    {"a_state_that_is_left",
     R"(
      agent A {
        state { seen: String = "" }
        fn turn(ctx: Context, input: String) -> String { state.seen = word(); B::handoff(input) }
      }
      agent B {
        state { last: String = "no" }
        fn turn(ctx: Context, input: String) -> String { sink("b"); sink(state.last); state.last = word(); "b" }
      })",
     {"1", "2"},
     "program; program| program; extern word"},
    {"a_state_in_a_turn_that_was_decided",
     R"(
      agent A {
        state { count: i32 = 0 }
        fn turn(ctx: Context, input: String) -> String { if flag() { B::handoff(input) }; "a" }
      }
      agent B {
        state { count: i32 = 0 }
        fn turn(ctx: Context, input: String) -> String { state.count += 1; sink("{{ state.count }}"); "b" }
      })",
     {"1", "2"},
     "extern flag| extern flag"},
    {"a_handoff_within_an_agent_that_is_called",
     R"(
      agent A { fn turn(ctx: Context, input: String) -> String { sink("a"); if flag() { B::run("x") }; "a" } }
      agent B { fn turn(ctx: Context, input: String) -> String { if flag() { C::handoff(input) }; "b" } }
      agent C { fn turn(ctx: Context, input: String) -> String { "c" } })",
     {"1", "2"},
     "program| program"},
    {"how_many_entries_when_one_was_asked",
     R"(
      agent A {
        fn turn(ctx: Context, input: String) -> String {
          sink("{{ ctx.len() }}"); sink("{{ ctx.trusted_part().len() }}")
          if flag() { let answer = ask<String>("a?") }
          "a"
        }
      })",
     {"1", "2", "3"},
     "program; program| extern flag; program| extern flag; program"},
    {"how_many_entries_when_none_was_asked",
     R"(
      agent A {
        fn turn(ctx: Context, input: String) -> String {
          sink("{{ ctx.len() }}"); sink("{{ ctx.trusted_part().len() }}")
          if !flag() { let answer = ask<String>("a?") }
          "a"
        }
      })",
     {"1", "2"},
     "program; program| extern flag; program"},
    {"how_many_entries_when_one_is_always_asked",
     R"(
      agent A {
        fn turn(ctx: Context, input: String) -> String {
          sink("{{ ctx.len() }}"); sink("{{ ctx.trusted_part().len() }}")
          let seen = word()
          let answer = ask<String>("is {{ seen }} right?")
          pay(seen)
          "a"
        }
      })",
     {"1", "2"},
     "program; program| program; program"},
    {"how_many_entries_when_a_called_agent_asked",
     R"(
      agent A {
        fn turn(ctx: Context, input: String) -> String {
          sink("{{ ctx.len() }}"); if flag() { B::run("x") }; "a"
        }
      }
      agent B {
        fn turn(ctx: Context, input: String) -> String { if flag() { let answer = ask<String>("a?") }; "b" }
      })",
     {"1", "2"},
     "program| program"},
    {"what_was_said_before_one_was_asked",
     R"(
      agent A {
        fn turn(ctx: Context, input: String) -> String {
          for entry in ctx.trusted_part().entries() { sink(entry.text) }
          if input == "2" && flag() { let answer = ask<String>("a?") }
          "a"
        }
      })",
     {"1", "2", "3"},
     "person| person; person; person| person; person; person; person; person"},
};

INSTANTIATE_TEST_SUITE_P(Programs, Turns, testing::ValuesIn(turn_cases),
                         [](const testing::TestParamInfo<TurnCase>& one) { return std::string(one.param.name); });

/// Agents that tell their next turn what an extern has said, by what they have asked a person.
struct CountCase {
  std::string_view name;
  std::string_view turn;       ///< in the turn of `A`, before the count is used
  std::string_view more = {};  ///< functions
};

class Counts : public testing::TestWithParam<CountCase> {};

/// In each turn first what the turns before have said, in all the ways in which a program can see it. The program has a
/// call that acts: that something has not failed is not watched in others.
constexpr std::string_view count_uses = R"(
extern(acts) fn act()
fn seen(ctx: Context) {
  sink("{{ ctx.len() }}")
  sink(ctx.text())
  sink("{{ ctx.entries().len() }}")
  for entry in ctx.entries() { sink("one") }
  for entry in ctx.entries() { if entry.text.is_trusted() { sink(entry.text) } }
  let known = ctx.trusted_part()
  sink("{{ known.len() }}")
  sink(known.text())
  for entry in known.entries() { sink(entry.text) }
  if known.len() > 1000 { act() }
}
)";

/// What the program does that is trusted: it may not depend on what the extern has said.
std::string trusted_calls(const std::shared_ptr<const runtime::ProgramImage>& image, bool says) {
  runtime::Conversation conversation(image, 0);
  std::string calls;
  for (const std::string_view input : {"1", "2", "3"}) {
    calls += "turn " + std::string(input) + "\n";
    for (const Sunk& call : make_turn(conversation, input, says)) {
      if (call.label.find("extern") == std::string::npos) calls += call.label + ": " + call.text + "\n";
    }
  }
  return calls;
}

TEST_P(Counts, AreTheSameWhateverWasNotTrusted) {
  const std::string text = std::string(turn_externs) + std::string(count_uses) + std::string(GetParam().more) +
                           "agent A { fn turn(ctx: Context, input: String) -> String { seen(ctx)\n" +
                           std::string(GetParam().turn) + "\n\"done\" } }";
  const auto image = test::make_image(text);
  EXPECT_EQ(trusted_calls(image, true), trusted_calls(image, false));
}

const std::vector<CountCase> count_cases = {
    {"asked", R"(if flag() { let answer = ask<String>("a?") })"},
    {"asked_unless", R"(if !flag() { let answer = ask<String>("a?") })"},
    {"asked_one_or_two", R"(let a = ask<String>("a?"); if flag() { let answer = ask<String>("b?") })"},
    {"approved", R"(if flag() { let answer = approve("x", "is it right?") })"},
    {"approved_call", R"(if flag() { pay("x") })"},
    {"by_a_function", "if flag() { helped() }", R"(fn helped() { let answer = ask<String>("a?") })"},
    {"by_an_early_return", R"(if flag() { return "done" }; let answer = ask<String>("a?"))"},
    {"by_a_function_that_returns_early", "helped()",
     R"(fn helped() { if flag() { return }; let answer = ask<String>("a?") })"},
    {"by_letters", R"(for letter in word().chars() { let answer = ask<String>("a?") })"},
    {"by_a_short_circuit", R"(let both = flag() && yes())",
     R"(fn yes() -> Boolean { let answer = ask<String>("a?"); true })"},
    {"by_a_failure", R"({ assert word() == ""; let answer = ask<String>("a?") } catch _ {})"},
    {"in_a_handler", R"({ assert word() == "" } catch _ { let answer = ask<String>("a?") })"},
    {"by_a_failure_within", "{ helped() } catch _ {}",
     R"(fn helped() { if flag() { if flag() { fail("x") }; let answer = ask<String>("a?") } })"},
    {"in_branches", "let all = parallel {\nnoted()\nnoted()\n}",
     R"(fn noted() -> i32 { if flag() { let answer = ask<String>("a?") }; 1 })"},
    {"by_branches", "if flag() { let all = parallel {\nhelped()\nhelped()\n} }",
     R"(fn helped() -> String { ask<String>("a?") })"},
    {"by_many_branches", "if flag() { let all = for n in [1, 2] parallel(2) { helped() } }",
     R"(fn helped() -> String { ask<String>("a?") })"},
    {"by_how_many_branches", "let all = for letter in word().chars() parallel(2) { helped() }",
     R"(fn helped() -> String { ask<String>("a?") })"},
    {"by_how_many_branches_of_a_branch",
     "let all = parallel {\nfor letter in word().chars() parallel(2) { helped() }\n1\n}",
     R"(fn helped() -> String { ask<String>("a?") })"},
    {"by_a_model", "if decided(Context::new(), word()) { helped() }",
     R"(fn decided(ctx: Context, text: String) -> Boolean { text! }
        fn helped() { let answer = ask<String>("a?") })"},
    {"by_a_tool", R"(let t = tools { helped }; if flag() { let r = t.call("helped", Map::new()) })",
     R"(fn helped() -> String { ask<String>("a?") })"},
    {"by_a_turn_that_fails", R"(if flag() { let answer = ask<String>("a?") }; if input == "1" { fail("x") })"},
    {"by_where_a_turn_fails",
     R"(let at = word().len() % 5; for i in 0..5 { if i == at { fail("x") }; let answer = ask<String>("a?") })"},
    {"by_where_a_turn_fails_in_branches",
     R"(let at = word().len() % 5
        let all = parallel {
          for i in 0..5 { if i == at { fail("x") }; let answer = ask<String>("a?") }
          1
        })"},
    {"by_where_a_turn_fails_that_was_handed_off", R"(if input == "1" { B::handoff(input) })",
     R"(agent B { fn turn(ctx: Context, input: String) -> String {
          seen(ctx); let at = word().len() % 5
          for i in 0..5 { if i == at { fail("x") }; let answer = ask<String>("a?") }; "b" } })"},
    {"of_the_word", R"(let answer = ask<String>("is {{ word() }} right?"))"},
    {"by_a_handoff", R"(if input == "1" { B::handoff(input) })",
     R"(agent B { fn turn(ctx: Context, input: String) -> String {
          seen(ctx); if flag() { let answer = ask<String>("a?") }; "b" } })"},
    {"by_who_has_the_turn", R"(if flag() { B::handoff(input) })",
     R"(agent B { fn turn(ctx: Context, input: String) -> String {
          seen(ctx); let answer = ask<String>("a?"); "b" } })"},
};

INSTANTIATE_TEST_SUITE_P(Programs, Counts, testing::ValuesIn(count_cases),
                         [](const testing::TestParamInfo<CountCase>& one) { return std::string(one.param.name); });

TEST(Counts, OfInstructionsThatAreLeftOutAreTheSame) {
  const auto image = test::make_image(std::string(turn_externs) + std::string(count_uses) + R"(
    agent A {
      state { is_set: Boolean = false }
      instructions { if state.is_set { "Be careful."! } }
      fn turn(ctx: Context, input: String) -> String { seen(ctx); state.is_set = flag(); "a" }
    })");
  EXPECT_EQ(trusted_calls(image, true), trusted_calls(image, false));
}

}  // namespace
}  // namespace tenon
