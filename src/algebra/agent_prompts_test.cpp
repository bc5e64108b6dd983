// Agents that externs prompt: what the machine does, and that a run with them follows from its artifacts.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "algebra/extract.h"
#include "algebra/form.h"
#include "algebra/reconstruct.h"
#include "tests/support/journal_testing.h"
#include "tests/support/recorded_run.h"
#include "vm/snapshot.h"

namespace tenon::algebra {
namespace {

constexpr const char* program_text = R"tn(
extern fn delegate(what: String) -> String
extern fn count(what: String) -> i64
extern fn leave(what: String) -> String
agent Clerk {
    state { calls: i32 = 0 }
    instructions { "You are a clerk."! }
    fn turn(ctx: Context, input: String) -> String {
        state.calls += 1
        if input == "fail" { fail("no clerk") }
        "{{ say(ctx) }} {{ input }} {{ state.calls }}"
    }
    fn say(ctx: Context) -> String { "Say something."! }
}
agent Number { fn turn(ctx: Context, input: 1 | 2) -> 1 | 2 { input } }
agent Boss {
    state { n: i32 = 40 }
    fn turn(ctx: Context, input: String) -> String {
        state.n += 1
        let told = delegate(input) catch f { "caught {{ f.message }}" }
        if input == "leave" { helper(ctx) }
        "{{ told }}, boss {{ state.n }}"
    }
    fn helper(ctx: Context) -> String {
        "Helping"!
        let never = (leave("over") budget(calls: 5)) catch f { f.message }
        never
    }
}
fn main() -> String {
    let (a, b) = parallel { Boss::run("x"), Boss::run("fail") }
    "{{ a }}; {{ b }}; {{ count("n") }}; {{ leave("z") catch f { f.message } }}"
}
fn deep() -> String { Boss::run("deep") }
)tn";

std::uint32_t agent_named(const bytecode::Program& program, std::string_view name) {
  std::uint32_t at = 0;
  while (program.agents.at(at).name != name) ++at;
  return at;
}

vm::Outcome answer(const vm::Request& request, const bytecode::Program& program) {
  if (request.kind != vm::RequestKind::Extern) return {vm::Answered{vm::Value::string("hm")}, {}};
  const bytecode::Extern& callee = program.externs[request.subject];
  if (callee.world_call != types::WorldCall::Native) return {vm::Answered{vm::Value::unit()}, {}};
  const bool is_count = callee.name == "count";
  const bool leaves = callee.name == "leave";
  return {vm::Prompted{agent_named(program, is_count ? "Number" : "Clerk"),
                       is_count ? vm::Value::integer(2) : request.arguments[0],
                       leaves ? vm::Prompted::Then::Finish : vm::Prompted::Then::Wait},
          {}};
}

/// Runs to the end; with `step` 1 the machine is written down and read again after each instruction.
std::string run(const std::shared_ptr<const runtime::ProgramImage>& image, std::string_view function,
                std::uint64_t step) {
  const bytecode::Program& program = image->program();
  const auto index = runtime::find_function(program, function);
  vm::Machine machine(image->loaded(), *index, {});
  for (;;) {
    const vm::Step stopped = machine.run(step);
    if (step == 1) {
      const std::string bytes = vm::encode(machine);
      auto decoded = vm::decode(image->loaded(), bytes);
      EXPECT_TRUE(decoded.has_value()) << decoded.error().message << " after " << machine.instructions();
      if (!decoded) return {};
      EXPECT_EQ(vm::encode(*decoded), bytes);
      machine = std::move(*decoded);
    }
    if (std::holds_alternative<vm::Paused>(stopped)) continue;
    if (const auto* finished = std::get_if<vm::Finished>(&stopped)) return std::string(finished->value.as_text());
    if (const auto* failed = std::get_if<vm::Failed>(&stopped)) {
      std::string text = failed->report.message;
      for (const auto& entry : failed->report.call_stack.entries) text += ' ' + program.functions[entry.function].name;
      return text;
    }
    if (const auto* damaged = std::get_if<vm::Damaged>(&stopped)) return "damaged: " + damaged->message;
    for (const vm::Request& request : machine.pending_requests()) {
      EXPECT_TRUE(machine.resume(request.id, answer(request, program)).has_value());
    }
  }
}

TEST(AgentPrompts, TheTurnOfAPromptedAgentGivesTheExternsValue) {
  const auto image = test::make_image(program_text);
  const std::string value = run(image, "main", UINT64_MAX);
  EXPECT_EQ(value,
            "hm x 1, boss 41; caught no clerk, boss 41; 2; `leave` leaves the turn to `Clerk`, and was called where no "
            "agent has a turn");
  EXPECT_EQ(run(image, "main", 1), value);
}

TEST(AgentPrompts, AFailureKnowsItsCallersThroughAgents) {
  const auto image = test::make_image(R"tn(
extern fn delegate(what: String) -> String
agent Clerk {
    fn turn(ctx: Context, input: String) -> String { inner() }
    fn inner() -> String { fail("no") }
}
agent Boss {
    state { n: i32 = 1 }
    fn turn(ctx: Context, input: String) -> String { delegate(input) }
}
fn around() -> String { Boss::run("x") }
)tn");
  const std::string told = "no Clerk::inner Clerk::turn Clerk::run Boss::turn Boss::run around";
  EXPECT_EQ(run(image, "around", UINT64_MAX), told);
  EXPECT_EQ(run(image, "around", 1), told);
}

TEST(AgentPrompts, APromptThatFitsNobodyIsRefused) {
  const auto image = test::make_image(program_text);
  const bytecode::Program& program = image->program();
  const auto wrong = [&](vm::Prompted prompted) {
    vm::Machine machine(image->loaded(), *runtime::find_function(program, "deep"), {});
    for (;;) {
      static_cast<void>(machine.run());
      const auto requests = machine.pending_requests();
      const vm::Request& request = requests.at(0);
      if (program.externs[request.subject].world_call == types::WorldCall::Native) {
        const auto taken = machine.resume(request.id, {std::move(prompted), {}});
        if (!taken) return std::string("wrong shape");
        const vm::Step step = machine.run();
        const auto* finished = std::get_if<vm::Finished>(&step);
        return finished == nullptr ? std::string("waits") : std::string(finished->value.as_text());
      }
      static_cast<void>(machine.resume(request.id, {vm::Answered{vm::Value::unit()}, {}}));
    }
  };
  EXPECT_EQ(wrong({99, vm::Value::string("x")}), "wrong shape");
  // `Boss` reports its end before the run has ended.
  EXPECT_EQ(wrong({agent_named(program, "Number"), vm::Value::integer(1)}), "waits");
}

class AgentPromptRuns : public test::JournalTest {};

TEST_F(AgentPromptRuns, AreRebuiltFromTheirArtifacts) {
  const auto image = test::make_image(program_text);
  const test::RecordedAnswerer answers = [&](const runtime::OpenRequest& open) -> std::optional<vm::Outcome> {
    return answer(open.request, image->program());
  };
  const auto expect_rebuilt = [&](const journal::RunName& run, std::string_view part) {
    auto recorded = extract(*store, run, test::images_of(image));
    ASSERT_TRUE(recorded.has_value()) << recorded.error().message;
    const std::string form = write_form(recorded->artifacts);
    EXPECT_THAT(form, testing::HasSubstr(part));
    const auto read = read_form(form);
    ASSERT_TRUE(read.has_value()) << read.error().message;
    EXPECT_EQ(*read, recorded->artifacts);
    const auto rebuilt = reconstruct(image, *read);
    ASSERT_TRUE(rebuilt.has_value()) << rebuilt.error().message;
    EXPECT_EQ(rebuilt->events, recorded->events);
  };
  expect_rebuilt(test::record_run(*store, image, "main", "[]", answers),
                 R"({"child":{"agent":"Number","input":2}})");
  // The clerk who takes the second turn over has the third one too.
  expect_rebuilt(test::record_conversation(*store, image, "Boss", {"hi", "leave", "fail", "then"}, answers),
                 R"({"successor":{"agent":"Clerk","input":"over"}})");
}

}  // namespace
}  // namespace tenon::algebra
