#pragma once

#include <optional>
#include <string>

#include "graph/edit.h"

namespace tenon::graph {

/// What `now` has that the edit of `before` does not ask for, in words: a value that ends elsewhere, a neighbour that
/// became part of it, a block that changed with it. Nothing when `now` is the graph that the edit describes, but for
/// white space within texts and the nodes of the trees. A Replace may change anything.
[[nodiscard]] std::optional<std::string> find_unexpected_change(const Graph& before, const Edit& edit,
                                                                const Graph& now);

}  // namespace tenon::graph
