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
)";

struct TurnCase {
  std::string_view name;
  std::string_view text;                 ///< agents; the first one has the first turn
  std::vector<std::string_view> inputs;  ///< one for each turn
  std::string_view expected;             ///< the label of each call of `sink`, separated by `; `; of turns, by `| `
};

class Turns : public testing::TestWithParam<TurnCase> {};

/// Makes a turn. Returns the labels of its calls of `sink`.
std::string make_turn(runtime::Conversation& conversation, std::string_view input) {
  auto core = conversation.begin(input, {}, runtime::RunCore::Recording::Off);
  EXPECT_TRUE(core.has_value());
  vm::Machine& machine = (*core)->machine();
  const bytecode::Program& program = conversation.image()->program();
  std::string labels;
  vm::Step end = machine.run();
  for (; std::holds_alternative<vm::Waiting>(end); end = machine.run()) {
    for (const vm::Request& request : machine.take_requests()) {
      const bytecode::Extern& callee = program.externs[request.subject];
      vm::Outcome outcome{vm::ReturnedValue{vm::Value::unit()}, {}};
      if (callee.name == "flag") outcome.what = vm::ReturnedValue{vm::Value::boolean(true)};
      if (callee.name == "word") outcome.what = vm::ReturnedValue{vm::Value::string("attack")};
      if (callee.name == "sink") labels += (labels.empty() ? "" : "; ") + machine.labels().describe(request.label);
      if (callee.builtin_effect == types::BuiltinEffect::HandedOff && request.depth == 0) {
        conversation.hand_off(request.arguments[0].as_text());
      }
      EXPECT_TRUE(machine.resume(request.id, std::move(outcome)).has_value());
    }
  }
  const auto* const finished = std::get_if<vm::Finished>(&end);
  conversation.end(**core, finished == nullptr ? nullptr : &finished->value);
  return labels;
}

TEST_P(Turns, TheLabelsStay) {
  const auto image = test::make_image(std::string(turn_externs) + std::string(GetParam().text));
  runtime::Conversation conversation(image, 0);
  std::string labels;
  for (const std::string_view input : GetParam().inputs) {
    if (!labels.empty()) labels += "| ";
    labels += make_turn(conversation, input);
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
};

INSTANTIATE_TEST_SUITE_P(Programs, Turns, testing::ValuesIn(turn_cases),
                         [](const testing::TestParamInfo<TurnCase>& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace tenon
