#pragma once

#include "vm/machine_state.h"

/// Agents that externs prompt: their turns run at the call of the extern, or replace the turn that contains the call.
namespace tenon::vm {

/// Continues with the agent's turn, at the extern call where the fiber is. `by`: labels what decided that it runs.
[[nodiscard]] OpStatus prompt_agent(MachineState& state, Fiber& fiber, const bytecode::Extern& callee,
                                    SpawnedTurn prompted, LabelId by);
/// Whether values of type `given` are also values of type `wanted`.
[[nodiscard]] bool may_stand_for(const types::TypeTable& types, types::TypeId given, types::TypeId wanted);
/// Whether the function is an agent's turn, or replaces one after a handoff.
[[nodiscard]] bool is_turn(const bytecode::Program& program, std::uint32_t function);

}  // namespace tenon::vm
