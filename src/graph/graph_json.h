#pragma once

#include <string>
#include <string_view>

#include "graph/graph.h"

namespace tenon::graph {

/// The graph as JSON; docs/guides/graph.md says what its fields are.
[[nodiscard]] std::string to_json(const Graph& graph, const syntax::SyntaxTree& tree);

/// `sha256:` and the hash of a program's text: what an edit names to say which text it means.
[[nodiscard]] std::string version_of(std::string_view text);

}  // namespace tenon::graph
