#pragma once

#include <optional>
#include <string>

#include "graph/edit.h"

namespace tenon::graph {

/// Describes an unintended difference between `now` and the result that the edit of `before` asks for, such as a value
/// that includes its neighbour. Returns nothing if they are equal except for white space in texts and the nodes of the
/// trees. A Replace can change anything.
[[nodiscard]] std::optional<std::string> find_unexpected_change(const Graph& before, const Edit& edit,
                                                                const Graph& now);

}  // namespace tenon::graph
