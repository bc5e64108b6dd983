#pragma once

#include <cstdint>
#include <string_view>

#include "bytecode/program.h"
#include "vm/machine.h"

namespace tenon::test {

/// A program whose externs prompt its agents: `delegate` and `count` wait for the child, `leave` ends the turn in its
/// favour. `main` and `deep` are functions to begin with, Boss is an agent to talk with.
extern const char* const prompting_agents;

/// The place of an agent among those of a program that has one of that name.
[[nodiscard]] std::uint32_t find_agent(const bytecode::Program& program, std::string_view name);

/// What each request of the program gets: a prompt from an extern, `hm` from the model.
[[nodiscard]] vm::Outcome answer_prompting(const vm::Request& request, const bytecode::Program& program);

}  // namespace tenon::test
