#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "runtime/program_image.h"
#include "vm/machine.h"

/// Functions of an agent that run between its turns, without requests.
namespace tenon::runtime {

/// Runs a function that makes no requests. `labels`: those of the arguments and the state, and then of the value.
/// `what` is its name in the error: `the agent's state`.
[[nodiscard]] Result<vm::Value, std::string> compute(const ProgramImage& image, std::uint32_t function,
                                                     std::vector<vm::Argument> arguments,
                                                     const std::optional<vm::Value>& agent_state,
                                                     vm::LabelTable& labels, std::string_view what);

/// The state with which the agent's first turn begins.
[[nodiscard]] Result<vm::Value, std::string> first_state(const ProgramImage& image, const bytecode::Agent& agent);

/// Converts the state that an agent had in `before` to the one that it has in `image`: unchanged if the new program can
/// read it, or the result of one of the agent's functions `migrate`, `migrate_…`. These run on the new program's first
/// state. `state`: JSON (effects/value_form.h), as is the result. The error names the entries that differ, and suggests
/// a solution.
[[nodiscard]] Result<std::string, std::string> migrate(const ProgramImage& before, const bytecode::Agent& old_agent,
                                                       std::string_view state, const ProgramImage& image,
                                                       const bytecode::Agent& agent);

}  // namespace tenon::runtime
