#pragma once

#include <string_view>

#include "syntax/parser.h"

namespace tenon::syntax {

// The blocks of an agent, and the sections that name or contain them.

/// Whether `block` is followed by a name, and is not a name itself.
[[nodiscard]] bool at_block_item(const Parser& p);
/// Whether a part of a block starts on this line that is not indented further than the current part, which has ended.
[[nodiscard]] bool at_outer_block_part(const Parser& p);
void parse_block_item(Parser& p);
/// `pre_turn { … }` or `post_turn { … }`.
void parse_turn_section(Parser& p);
/// `start` or `next_turn`, followed by a name.
void parse_naming_section(Parser& p, NodeKind kind, std::string_view wanted);

}  // namespace tenon::syntax
