#pragma once

#include <string>
#include <string_view>

#include "graph/graph.h"
#include "graph/placement.h"
#include "json/json.h"

namespace tenon::graph {

/// The graph as JSON; docs/guides/graph.md describes its fields.
[[nodiscard]] std::string to_json(const Graph& graph, const syntax::SyntaxTree& tree);

/// Its `declarations`.
[[nodiscard]] Json to_json(const std::vector<Declaration>& declarations, const syntax::SyntaxTree& tree);

/// The `agents` of it with places and sizes in pixels, for who draws them (docs/guides/graph.md). `places`: those of
/// the drawing before, which become those of this one.
[[nodiscard]] Json placed_agents(const Graph& graph, const syntax::SyntaxTree& tree, Places& places);

/// The calls of the file (call_graph.h) in the same form, with places of their own. Of more than `drawn_calls_max`
/// functions only the number: `left_out`.
[[nodiscard]] Json placed_calls(const syntax::SyntaxTree& tree, Places& places);

/// An agent in the same form that is in no text: all its ranges are empty.
[[nodiscard]] Json to_json(const Agent& agent, const PlacedAgent& placed);

/// `sha256:` and the hash of a program's text, with which an edit identifies the text that it applies to.
[[nodiscard]] std::string version_of(std::string_view text);

}  // namespace tenon::graph
