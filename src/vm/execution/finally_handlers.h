#pragma once

#include <cstddef>

#include "vm/machine_state.h"

/// The blocks of `finally` and `shield`: their ranges, and how cancelled fibers run them.
namespace tenon::vm {

/// Whether any function of the program has such a block.
[[nodiscard]] bool has_finally_handlers(const bytecode::Program& program);

/// A range of a function's code that handles failures.
struct Region {
  std::uint32_t begin = 0, end = 0;                   ///< begin <= pc < end
  const bytecode::Handler* handler = nullptr;         ///< receives the failure
  const bytecode::FinallyHandler* guard = nullptr;    ///< must run first
  const bytecode::FinallyHandler* running = nullptr;  ///< is running: a cancelled fiber continues to its end
};
/// The ranges that contain the current instruction of the frame with this index, innermost first. A range that encloses
/// the block of a branch belongs to the parent.
[[nodiscard]] std::vector<Region> regions_at(const MachineState& state, const Fiber& fiber, std::size_t frame);

/// Ends the fiber's frames above this one, and its budgets beyond `budget_depth`; the next instruction is `pc`.
void cut_back(MachineState& state, Fiber& fiber, std::size_t frame, std::uint32_t budget_depth, std::uint32_t pc,
              const Value& failure);
/// Continues with the block of the `finally` in the fiber's newest frame.
void enter_cleanup(MachineState& state, Fiber& fiber, const bytecode::FinallyHandler& cleanup,
                   const PendingFailure& pending);
/// What handles the failure, starting at the newest frame of the fiber.
struct Found {
  std::size_t frame = 0;
  const bytecode::Handler* handler = nullptr;
  const bytecode::FinallyHandler* cleanup = nullptr;
};
/// `first_listed`: the first frame that the failure's call stack already contains. If a block fails that was entered
/// with a failure, the latter replaces the new one.
[[nodiscard]] Found find_handler(const MachineState& state, const Fiber& fiber, PendingFailure& pending,
                                 std::size_t& first_listed);
/// Continues with a failure in the fiber.
void carry(MachineState& state, FiberId id, PendingFailure pending);
void append_calls(CallStack& stack, const MachineState& state, const Fiber& fiber, std::size_t end,
                  std::size_t begin = 0);

/// Whether the fiber waits for a call in progress that is made at most once. Cancelled, it waits for its outcome: what
/// cleans up must not run beside it.
[[nodiscard]] bool awaits_once_call(const MachineState& state, const Fiber& fiber);
/// Cancels the branches of the fiber's block. True if some must run `finally` blocks first, or wait for such a call,
/// and are awaited.
[[nodiscard]] bool wind_branches(MachineState& state, Fiber& fiber);
/// The branch has ended, and its block awaits one less.
void end_branch(MachineState& state, FiberId id);

}  // namespace tenon::vm
