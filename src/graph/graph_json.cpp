#include "graph/graph_json.h"

#include <algorithm>
#include <cmath>

#include "base/sha256.h"
#include "graph/call_graph.h"
#include "json/json.h"

namespace tenon::graph {
namespace {

Json pair_of(double first, double second) {
  Json pair = Json::array();
  pair.push_back(std::round(first * 10) / 10);
  pair.push_back(std::round(second * 10) / 10);
  return pair;
}

Point sum(Point one, Point other) {
  return {one.x + other.x, one.y + other.y};
}

Json at(Point point) {
  return pair_of(point.x, point.y);
}

/// The part of a placement that belongs to a part of the graph; null without a placement.
template <class Placed, class Part>
const Placed* find_placed(const std::vector<Placed>* all, const Part* Placed::*member, const Part& part) {
  if (all == nullptr) return nullptr;
  const auto found = std::ranges::find(*all, &part, member);
  return found == all->end() ? nullptr : &*found;
}

/// Writes parts of a graph, with places where it has a placement: then relative to the agent's corner. `origin`: that
/// of what contains the part.
class Writer {
 public:
  /// `tree`: of the text that has the graph; null without one.
  explicit Writer(const syntax::SyntaxTree* tree) : tree_(tree) {}

  [[nodiscard]] Json agent(const Agent& agent, const PlacedAgent* placed) const {
    Json json = Json::object({{"name", agent.name}});
    if (!agent.documentation.empty()) json["documentation"] = agent.documentation;
    json["range"] = range(agent.node);
    json["start"] = agent.first_block();
    if (agent.next_turn) json["next_turn"] = *agent.next_turn;
    json["state"] = fields(agent.state);
    json["scratchpad"] = fields(agent.scratchpad);
    if (!agent.instructions.empty()) json["instructions"] = agent.instructions;
    json["functions"] = declarations(agent.functions);
    if (placed != nullptr) json["size"] = pair_of(placed->size.width, placed->size.height);
    json["sequences"] = sequences(agent.sequences, placed == nullptr ? nullptr : &placed->sequences, {});
    return json;
  }

  [[nodiscard]] Json declarations(const std::vector<Declaration>& declarations) const {
    Json json = Json::array();
    for (const Declaration& declaration : declarations) {
      Json one = Json::object({{"kind", declaration.kind}, {"name", declaration.name}});
      if (!declaration.documentation.empty()) one["documentation"] = declaration.documentation;
      one["range"] = range(declaration.node);
      json.push_back(std::move(one));
    }
    return json;
  }

 private:
  [[nodiscard]] Json range(syntax::NodeId node) const {
    const source::Span span = tree_ == nullptr ? source::Span() : tree_->span(node);
    return Json::object({{"offset", span.offset}, {"length", span.length}});
  }

  [[nodiscard]] static Json fields(const std::vector<Setting>& settings) {
    Json json = Json::array();
    for (const Setting& field : settings) {
      Json one = Json::object({{"name", field.name}, {"type", field.type}, {"value", field.value}});
      if (!field.documentation.empty()) one["documentation"] = field.documentation;
      json.push_back(std::move(one));
    }
    return json;
  }

  [[nodiscard]] Json sequences(const std::vector<Sequence>& sequences, const std::vector<PlacedSequence>* all,
                               Point origin) const {
    Json json = Json::array();
    for (const Sequence& sequence : sequences) {
      const PlacedSequence* const placed = find_placed(all, &PlacedSequence::sequence, sequence);
      Json one = Json::object({{"path", sequence.path}, {"name", sequence.name}});
      Point contents;
      if (placed != nullptr) {
        const Point corner = sum(origin, placed->corner);
        contents = sum(corner, placed->contents);
        one["at"] = at(corner);
        one["size"] = pair_of(placed->size.width, placed->size.height);
        if (placed->dot) one["dot"] = at(sum(contents, *placed->dot));
        if (placed->dot) one["dot_points"] = points(placed->edges.front(), contents);
      }
      Json blocks = Json::array();
      for (const Block& part : sequence.blocks) blocks.push_back(block(part, placed, contents));
      one["blocks"] = std::move(blocks);
      json.push_back(std::move(one));
    }
    return json;
  }

  [[nodiscard]] static Json points(const PlacedEdge& edge, Point origin) {
    Json json = Json::array();
    for (const Point& point : edge.points) json.push_back(at(sum(origin, point)));
    return json;
  }

  [[nodiscard]] static Json edge(const Edge& edge, const PlacedSequence* around, Point origin) {
    Json json = Json::object({{"kind", name_of(edge.kind)}});
    if (!edge.label.empty()) json["label"] = edge.label;
    if (!edge.on.empty()) json["on"] = edge.on;
    json["target"] = edge.target;
    const PlacedEdge* const placed = find_placed(around == nullptr ? nullptr : &around->edges, &PlacedEdge::edge, edge);
    if (placed == nullptr) return json;
    json["points"] = points(*placed, origin);
    if (placed->text.empty()) return json;
    json["text"] = placed->text;
    json["text_at"] = at(sum(origin, placed->text_middle));
    return json;
  }

  [[nodiscard]] Json block(const Block& block, const PlacedSequence* around, Point origin) const {
    Json json = Json::object({{"path", block.path}, {"name", block.name}, {"kind", block.kind}});
    if (!block.documentation.empty()) json["documentation"] = block.documentation;
    json["range"] = range(block.node);
    const PlacedBlock* const placed =
        find_placed(around == nullptr ? nullptr : &around->blocks, &PlacedBlock::block, block);
    Point corner;
    if (placed != nullptr) {
      corner = sum(origin, placed->corner);
      json["at"] = at(corner);
      json["size"] = pair_of(placed->size.width, placed->size.height);
      if (!placed->excerpt.empty()) json["excerpt"] = placed->excerpt;
    }
    if (block.item) {
      json["item"] = Json::object({{"name", block.item->name}, {"type", block.item->type}, {"list", block.item->list}});
    }
    Json options = Json::array();
    for (const Setting& option : block.options) {
      options.push_back(Json::object({{"name", option.name}, {"value", option.value}}));
    }
    json["options"] = std::move(options);
    if (!block.statements.empty()) json["statements"] = block.statements;
    Json edges = Json::array();
    for (const Edge& one : block.edges) edges.push_back(edge(one, around, origin));
    json["edges"] = std::move(edges);
    if (!block.nested.empty()) {
      json["sequences"] = sequences(block.nested, placed == nullptr ? nullptr : &placed->nested, corner);
    }
    return json;
  }

  const syntax::SyntaxTree* tree_;
};

}  // namespace

Json to_json(const std::vector<Declaration>& declarations, const syntax::SyntaxTree& tree) {
  return Writer(&tree).declarations(declarations);
}

std::string to_json(const Graph& graph, const syntax::SyntaxTree& tree) {
  Json agents = Json::array();
  for (const Agent& agent : graph.agents) agents.push_back(Writer(&tree).agent(agent, nullptr));
  return Json::object({{"version", version_of(tree.file().text())},
                       {"agents", std::move(agents)},
                       {"declarations", to_json(graph.declarations, tree)}})
      .dump(JsonForm::Pretty);
}

Json placed_calls(const syntax::SyntaxTree& tree, Places& places) {
  Agent calls = make_call_graph(tree);
  const std::size_t count = calls.main().blocks.size();
  if (count > drawn_calls_max) {
    places.clear();
    calls.sequences.front().blocks.clear();
    Json json = Writer(&tree).agent(calls, nullptr);
    json["left_out"] = count;
    return json;
  }
  const PlacedAgent placed = place(calls, BoxText::Excerpt, places);
  places.clear();
  add_places(placed, places);
  return Writer(&tree).agent(calls, &placed);
}

Json placed_agents(const Graph& graph, const syntax::SyntaxTree& tree, Places& places) {
  Places now;
  Json agents = Json::array();
  for (const Agent& agent : graph.agents) {
    const PlacedAgent placed = place(agent, BoxText::Excerpt, places);
    add_places(placed, now);
    agents.push_back(Writer(&tree).agent(agent, &placed));
  }
  // A text that cannot be read for a moment has no agents; the places are kept for when it can be read again.
  if (!now.empty()) places = std::move(now);
  return agents;
}

Json to_json(const Agent& agent, const PlacedAgent& placed) {
  return Writer(nullptr).agent(agent, &placed);
}

std::string version_of(std::string_view text) {
  return "sha256:" + sha256(text).hex();
}

}  // namespace tenon::graph
