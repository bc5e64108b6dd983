#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "runtime/program_image.h"
#include "vm/machine.h"

/// What is computed of an agent between its turns, without anybody being asked.
namespace tenon::runtime {

/// An index into Program::agents.
[[nodiscard]] std::optional<std::uint32_t> find_agent(const bytecode::Program& program, std::string_view name);

/// Runs a function that is to come back by itself. `what` names it in the error: `the agent's state`.
[[nodiscard]] Result<vm::Value, std::string> compute(const ProgramImage& image, std::uint32_t function,
                                                     std::vector<vm::Argument> arguments,
                                                     const std::optional<vm::Value>& agent_state,
                                                     std::string_view what);

/// The state with which the agent's first turn begins.
[[nodiscard]] Result<vm::Value, std::string> first_state(const ProgramImage& image, const bytecode::Agent& agent);

/// The state that an agent has in `image`, of the one that it had in `before`: the same, where it can be read as it is,
/// or what one of the agent's functions `migrate`, `migrate_…` makes of it. These run on the new program's first state.
/// `state`: JSON (effects/value_form.h), as is the result. The error names the entries that differ, and says how to go
/// on.
[[nodiscard]] Result<std::string, std::string> migrate(const ProgramImage& before, const bytecode::Agent& old_agent,
                                                       std::string_view state, const ProgramImage& image,
                                                       const bytecode::Agent& agent);

}  // namespace tenon::runtime
