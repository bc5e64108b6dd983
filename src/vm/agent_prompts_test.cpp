// Agents that externs prompt.

#include <gtest/gtest.h>

#include "tests/support/recorded_run.h"
#include "vm/machine.h"
#include "vm/snapshot.h"

namespace tenon::vm {
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

Outcome answer(const Request& request, const bytecode::Program& program) {
  if (request.kind != RequestKind::Extern) return {Answered{Value::string("hm")}, {}};
  const bytecode::Extern& callee = program.externs[request.subject];
  if (callee.world_call != types::WorldCall::Native) return {Answered{Value::unit()}, {}};
  const bool is_count = callee.name == "count";
  const bool leaves = callee.name == "leave";
  return {
      Prompted{agent_named(program, is_count ? "Number" : "Clerk"), is_count ? Value::integer(2) : request.arguments[0],
               leaves ? Prompted::Then::Finish : Prompted::Then::Wait},
      {}};
}

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
  const auto wrong = [&](Prompted prompted) {
    Machine machine(image->loaded(), *runtime::find_function(program, "deep"), {});
    for (;;) {
      static_cast<void>(machine.run());
      const auto requests = machine.pending_requests();
      const Request& request = requests.at(0);
      if (program.externs[request.subject].world_call == types::WorldCall::Native) {
        const auto taken = machine.resume(request.id, {std::move(prompted), {}});
        if (!taken) return std::string("wrong shape");
        const Step step = machine.run();
        const auto* finished = std::get_if<Finished>(&step);
        return finished == nullptr ? std::string("waits") : std::string(finished->value.as_text());
      }
      static_cast<void>(machine.resume(request.id, {Answered{Value::unit()}, {}}));
    }
  };
  EXPECT_EQ(wrong({99, Value::string("x")}), "wrong shape");
  // `Boss` reports its end before the run has ended.
  EXPECT_EQ(wrong({agent_named(program, "Number"), Value::integer(1)}), "waits");
}

}  // namespace
}  // namespace tenon::vm
