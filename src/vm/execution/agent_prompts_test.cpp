// Agents that externs prompt.

#include <gtest/gtest.h>

#include "bytecode/agents.h"
#include "tests/support/prompting_agents.h"
#include "tests/support/recorded_run.h"
#include "vm/machine.h"
#include "vm/snapshot/snapshot.h"

namespace tenon::vm {
namespace {

/// Runs to the end; with `step` 1 the machine is written down and read again after each instruction.
std::string run(const std::shared_ptr<const runtime::ProgramImage>& image, std::string_view function,
                std::uint64_t step) {
  const bytecode::Program& program = image->program();
  const auto index = runtime::find_function(program, function);
  Machine machine(image->loaded(), *index, {});
  for (;;) {
    const Step stopped = machine.run(step);
    if (step == 1) {
      const std::string bytes = encode(machine);
      auto decoded = decode(image->loaded(), bytes);
      EXPECT_TRUE(decoded.has_value()) << decoded.error().message << " after " << machine.instructions();
      if (!decoded) return {};
      EXPECT_EQ(encode(*decoded), bytes);
      machine = std::move(*decoded);
    }
    if (std::holds_alternative<Paused>(stopped)) continue;
    if (const auto* finished = std::get_if<Finished>(&stopped)) return std::string(finished->value.as_text());
    if (const auto* failed = std::get_if<Failed>(&stopped)) {
      std::string text = failed->report.message;
      for (const auto& entry : failed->report.call_stack.entries) text += ' ' + program.functions[entry.function].name;
      return text;
    }
    if (const auto* damaged = std::get_if<Damaged>(&stopped)) return "damaged: " + damaged->message;
    for (const Request& request : machine.pending_requests()) {
      EXPECT_TRUE(machine.resume(request.id, test::answer_prompting(request, program)).has_value());
    }
  }
}

TEST(AgentPrompts, TheTurnOfAPromptedAgentReturnsTheExternsValue) {
  const auto image = test::make_image(test::prompting_agents);
  const std::string value = run(image, "main", UINT64_MAX);
  EXPECT_EQ(value,
            "hm x 1, boss 41; caught no clerk, boss 41; 2; `leave` hands the turn off to `Clerk`, but was called where "
            "no agent has a turn");
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
  const std::string calls = "no Clerk::inner Clerk::turn Clerk::run Boss::turn Boss::run around";
  EXPECT_EQ(run(image, "around", UINT64_MAX), calls);
  EXPECT_EQ(run(image, "around", 1), calls);
}

TEST(AgentPrompts, APromptThatFitsNoAgentIsRefused) {
  const auto image = test::make_image(test::prompting_agents);
  const bytecode::Program& program = image->program();
  const auto wrong = [&](SpawnedTurn prompted) {
    Machine machine(image->loaded(), *runtime::find_function(program, "deep"), {});
    for (;;) {
      static_cast<void>(machine.run());
      const auto requests = machine.pending_requests();
      const Request& request = requests.at(0);
      if (program.externs[request.subject].builtin_effect == types::BuiltinEffect::Native) {
        const auto taken = machine.resume(request.id, {std::move(prompted), {}});
        if (!taken) return std::string("wrong shape");
        const Step step = machine.run();
        const auto* finished = std::get_if<Finished>(&step);
        return finished == nullptr ? std::string("waits") : std::string(finished->value.as_text());
      }
      static_cast<void>(machine.resume(request.id, {ReturnedValue{Value::unit()}, {}}));
    }
  };
  EXPECT_EQ(wrong({99, Value::string("x")}), "wrong shape");
  // `Boss` reports its end before the run has ended.
  EXPECT_EQ(wrong({bytecode::find_agent(program, "Number").value(), Value::integer(1)}), "waits");
}

}  // namespace
}  // namespace tenon::vm
