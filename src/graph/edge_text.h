#pragma once

#include <string>

#include "graph/graph.h"

namespace tenon::graph {

/// What a picture writes beside an edge: one line; nothing beside a plain `->`.
[[nodiscard]] std::string edge_text(const Edge& edge);
/// The same in full, as it is written.
[[nodiscard]] std::string whole_edge_text(const Edge& edge);

}  // namespace tenon::graph
