#pragma once

#include <string>

#include "graph/graph.h"

namespace tenon::graph {

/// The label of an edge in a picture: one line; empty for a plain `->`.
[[nodiscard]] std::string edge_text(const Edge& edge);
/// The same in full, as in the source.
[[nodiscard]] std::string whole_edge_text(const Edge& edge);

}  // namespace tenon::graph
