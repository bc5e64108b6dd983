#pragma once

#include <string>

#include "graph/graph.h"

namespace tenon::graph {

/// The graph in the language of Graphviz: a cluster for each agent and each nested sequence.
[[nodiscard]] std::string to_dot(const Graph& graph);

/// A self-contained picture: the agents one below the other, in the viewer's colour scheme. A block's element has its
/// path as `data-block`, so that a page can highlight it.
[[nodiscard]] std::string to_svg(const Graph& graph);

}  // namespace tenon::graph
