#include "vm/execution/finally_handlers.h"

#include <gtest/gtest.h>

#include "tests/support/assembler.h"
#include "tests/support/machine_run.h"

namespace tenon::vm {
namespace {

using types::FailureKind;

/// A program with two externs, of which `charge` is called at most once.
bytecode::Program with_externs() {
  bytecode::Program program;
  for (const char* name : {"charge", "check"}) {
    bytecode::Extern callee;
    callee.builtin_effect = types::BuiltinEffect::Native;
    callee.name = name;
    callee.result = types::TypeTable::string;
    program.externs.push_back(std::move(callee));
  }
  program.externs[0].call_options.is_once = true;
  return program;
}

/// Two branches call the externs; the failure of the block is caught.
constexpr const char* both = R"(
fn main registers=8
@try
  Parallel 2 [@a @b]
@tried
  MakeList 2 2 2
  Return 2
@caught
  GetField 2 7 1
  Return 2
@a
  CallExtern 1 charge
  EndBranch 1
@b
  CallExtern 1 check
  EndBranch 1
handler @try @caught @caught 7 0
)";

/// `check` fails first, then `charge` has `outcome`, if it is waited for. Adds the names of the externs to `answered`.
test::RunRecord run_both(bytecode::Program base, const Outcome& outcome, std::string& answered) {
  const auto program = test::load(test::assemble(both, std::move(base)));
  return test::run(program, {}, [&](Machine& machine, const Request& request) {
    const std::string& name = machine.program().program().externs[request.subject].name;
    answered += name + " ";
    if (name == "charge") return outcome;
    return Outcome{EffectFailure{FailureKind::ToolFailed, "declined", "check"}, {}};
  });
}

TEST(FinallyHandlers, ACancelledBranchEndsWithItsCallThatIsMadeAtMostOnce) {
  const std::vector<Outcome> outcomes = {
      {ReturnedValue{Value::string("receipt")}, {}},
      {EffectFailure{FailureKind::ToolFailed, "no money", "charge"}, {}},
      {ReturnedValue{Value::string("late")}, {.milliseconds = UINT64_MAX / 2}},
  };
  for (const Outcome& outcome : outcomes) {
    std::string answered;
    const test::RunRecord record = run_both(with_externs(), outcome, answered);
    EXPECT_EQ(record.end, "value \"declined\"");
    EXPECT_EQ(record.cancelled, "");
    EXPECT_EQ(answered, "check charge check charge ");  // straight, and with a snapshot at each instruction
  }
}

TEST(FinallyHandlers, OtherCallsAndThoseOfOlderProgramsAreDiscarded) {
  bytecode::Program other = with_externs();
  other.externs[0].call_options.is_once = false;
  bytecode::Program older = with_externs();
  older.awaits_once_calls = false;
  for (bytecode::Program* program : {&other, &older}) {
    std::string answered;
    const test::RunRecord record = run_both(std::move(*program), {ReturnedValue{Value::string("x")}, {}}, answered);
    EXPECT_EQ(record.end, "value \"declined\"");
    EXPECT_EQ(record.cancelled, "0 ");
    EXPECT_EQ(answered, "check check ");
  }
}

/// Adds the entries of the `shield` blocks of the first function, none of which is inside another.
void add_shields(bytecode::Program& program) {
  bytecode::Function& function = program.functions[0];
  std::uint32_t begin = 0;
  for (std::uint32_t pc = 0; pc < function.code.size(); ++pc) {
    const bytecode::Instruction instruction = function.code[pc];
    if (instruction.opcode == static_cast<std::uint16_t>(bytecode::Opcode::LoadUnit)) begin = pc;
    if (instruction.opcode != static_cast<std::uint16_t>(bytecode::Opcode::EndShield)) continue;
    function.finally_handlers.push_back({begin, begin, pc, instruction.a, 0});
  }
}

TEST(FinallyHandlers, ACancelledBranchContinuesToTheEndOfAShield) {
  bytecode::Program base = with_externs();
  base.externs[0].call_options.is_once = false;
  bytecode::Program program = test::assemble(R"(
fn main registers=8
@try
  Parallel 2 [@a @b]
@tried
  MakeList 2 2 2
  Return 2
@caught
  GetField 2 7 1
  Return 2
@a
  LoadUnit 3
  CallExtern 1 charge
  CallExtern 1 charge
  EndShield 3
  CallExtern 1 charge
  EndBranch 1
@b
  CallExtern 1 check
  EndBranch 1
handler @try @caught @caught 7 0
)",
                                             std::move(base));
  add_shields(program);
  std::string answered;
  const test::RunRecord record =
      test::run(test::load(std::move(program)), {}, [&](Machine& machine, const Request& request) {
        const std::string& name = machine.program().program().externs[request.subject].name;
        answered += name + " ";
        if (name == "charge") return Outcome{ReturnedValue{Value::string("receipt")}, {}};
        return Outcome{EffectFailure{FailureKind::ToolFailed, "declined", "check"}, {}};
      });
  EXPECT_EQ(record.end, "value \"declined\"");
  EXPECT_EQ(record.cancelled, "");
  EXPECT_EQ(answered, "check charge charge check charge charge ");
}

}  // namespace
}  // namespace tenon::vm
