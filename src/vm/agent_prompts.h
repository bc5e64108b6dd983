#pragma once

#include "vm/machine_state.h"

/// Agents that externs prompt: their turns run where the extern was called, or in place of the turn around the call.
namespace tenon::vm {

/// Goes on with the agent's turn, at the call of the extern that the fiber stands at.
[[nodiscard]] OpStatus prompt_agent(MachineState& state, Fiber& fiber, const bytecode::Extern& callee,
                                    SpawnedTurn prompted);
/// Whether values of `given` are values of `wanted` as they are.
[[nodiscard]] bool may_stand_for(const types::TypeTable& types, types::TypeId given, types::TypeId wanted);
/// Whether the function is an agent's turn, or stands for one that it has taken over.
[[nodiscard]] bool is_turn(const bytecode::Program& program, std::uint32_t function);

}  // namespace tenon::vm
