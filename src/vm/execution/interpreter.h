#pragma once

#include <cstdint>

#include "vm/machine_state.h"

namespace tenon::vm {

/// Why the interpreter has stopped. The fiber's newest frame is at the instruction that is named.
enum class Exit : std::uint8_t {
  OutOfFuel,    ///< at the next instruction
  Failed,       ///< at the instruction that failed; the state's cause says why
  Damaged,      ///< at the instruction that cannot be executed; the state's damage says why
  Scope,        ///< at the next instruction; the budget scope has changed
  Effect,       ///< at an instruction that makes a request
  Block,        ///< at a Parallel or ParallelFor
  Returned,     ///< the first frame has returned; its value is in register 0
  BranchEnded,  ///< at an EndBranch in the fiber's first frame
};

/// Executes instructions of one fiber, each of which costs one unit of `fuel`, until it must stop. `depth_max`: the
/// maximum number of frames of the fiber, according to its budgets.
[[nodiscard]] Exit interpret(MachineState& state, Fiber& fiber, std::uint64_t& fuel, std::uint64_t depth_max);

}  // namespace tenon::vm
