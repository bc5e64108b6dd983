#pragma once

#include "graph/graph.h"

namespace tenon::graph {

/// What calls what in a file, as the graph of an agent `Calls`: its blocks are the functions, externs and agents, of
/// the kinds `function`, `method`, `extern` and `agent`, and an edge leads from each to what it calls. An agent
/// contains its `turn`, its instructions and its blocks; its other functions are `Agent::name`. An edge to an agent to
/// which the rest of a turn is handed off has the label `hands off`. From the syntax alone: the method of a call is
/// known by its name.
[[nodiscard]] Agent make_call_graph(const syntax::SyntaxTree& tree);

/// A graph of more functions is not drawn: no one could read it.
inline constexpr std::size_t drawn_calls_max = 1'000;

}  // namespace tenon::graph
