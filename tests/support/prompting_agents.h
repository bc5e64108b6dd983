#pragma once

#include "bytecode/program.h"
#include "vm/machine.h"

namespace tenon::test {

/// A program whose externs prompt its agents: `delegate` and `count` wait for the child, `leave` hands off the turn to
/// it. `main` and `deep` are entry functions, Boss is an agent for conversations.
extern const char* const prompting_agents;

/// The outcome of each request of the program: a prompt from an extern, `hm` from the model.
[[nodiscard]] vm::Outcome answer_prompting(const vm::Request& request, const bytecode::Program& program);

}  // namespace tenon::test
