#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "bytecode/program.h"

namespace tenon::bytecode {

/// An index into Program::agents.
[[nodiscard]] std::optional<std::uint32_t> find_agent(const Program& program, std::string_view name);

/// In the program's order.
[[nodiscard]] std::vector<std::string_view> agent_names(const Program& program);

/// The type of the prompts that the agent accepts.
[[nodiscard]] types::TypeId prompt_type(const Program& program, const Agent& agent);

}  // namespace tenon::bytecode
