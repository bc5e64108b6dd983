#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/edit.h"

namespace tenon::graph {

/// More are rejected; an editor sends a few at a time.
inline constexpr std::size_t edit_count_max = 10'000;

/// Reads a JSON array of edits; docs/guides/graph.md lists them. Unknown fields are rejected, so that a misspelt one is
/// noticed.
[[nodiscard]] Result<std::vector<Edit>, Refusal> read_edits(std::string_view json);
[[nodiscard]] std::string to_json(std::span<const Edit> edits);
/// The values of `op`.
[[nodiscard]] std::span<const std::string_view> edit_names();

}  // namespace tenon::graph
