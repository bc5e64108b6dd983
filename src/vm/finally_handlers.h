#pragma once

#include <cstddef>

#include "vm/machine_state.h"

/// The blocks of `finally`: where they stand, and how what is cancelled comes by them.
namespace tenon::vm {

/// Whether any function of the program has such a block.
[[nodiscard]] bool has_finally_handlers(const bytecode::Program& program);

/// A part of a function's code that means something for a failure there.
struct Region {
  std::uint32_t begin = 0, end = 0;                   ///< begin <= pc < end
  const bytecode::Handler* handler = nullptr;         ///< takes the failure
  const bytecode::FinallyHandler* guard = nullptr;    ///< has to be run first
  const bytecode::FinallyHandler* running = nullptr;  ///< is being run
};
/// Those in which the fiber's frame of that index stands, the innermost first. What encloses the block of a branch is
/// its parent's.
[[nodiscard]] std::vector<Region> regions_at(const MachineState& state, const Fiber& fiber, std::size_t frame);

/// Ends the fiber's frames above that one, and the budgets of it beyond `budget_depth`; the next instruction is `pc`.
void cut_back(MachineState& state, Fiber& fiber, std::size_t frame, std::uint32_t budget_depth, std::uint32_t pc,
              const Value& failure);
/// Goes on with the cleanup's block on the fiber's newest frame.
void enter_cleanup(MachineState& state, Fiber& fiber, const bytecode::FinallyHandler& cleanup,
                   const PendingFailure& pending);
/// What the failure comes upon, from the newest frame of the fiber on.
struct Found {
  std::size_t frame = 0;
  const bytecode::Handler* handler = nullptr;
  const bytecode::FinallyHandler* cleanup = nullptr;
};
/// `told`: the first frame that the failure's call stack has already. Where a block fails that was entered with a
/// failure, that one takes its place.
[[nodiscard]] Found find_handler(const MachineState& state, const Fiber& fiber, PendingFailure& pending,
                                 std::size_t& told);
/// Goes on with a failure in the fiber.
void carry(MachineState& state, FiberId id, PendingFailure pending);
void append_calls(CallStack& stack, const MachineState& state, const Fiber& fiber, std::size_t end,
                  std::size_t begin = 0);

/// Cancels the branches of the fiber's block. True when some have to clean up first, and are waited for.
[[nodiscard]] bool wind_branches(MachineState& state, Fiber& fiber);
/// The branch is gone, and its block has one less to wait for.
void end_branch(MachineState& state, FiberId id);

}  // namespace tenon::vm
