#pragma once

#include <cstdint>
#include <string_view>

#include "syntax/parser.h"

namespace tenon::syntax {

/// The contents of an item's braces: functions, and in an agent also its sections.
enum class Parts : std::uint8_t { Methods, AgentParts };

[[nodiscard]] bool at_agent_section(const Parser& p);
/// Starts after the word `agent`, at `mark`.
void parse_agent(Parser& p, Mark mark);
/// Up to the closing brace, which the caller reads.
void parse_parts(Parser& p, Parts parts, std::string_view wanted);
/// Skips what is not a part into an Error node.
void skip_to_part(Parser& p, Parts parts);

}  // namespace tenon::syntax
