#include "server/plan_drawing.h"

#include <cmath>

#include "graph/placement.h"

namespace tenon::server {
namespace {

Json pair_of(double first, double second) {
  Json pair = Json::array();
  pair.push_back(std::round(first * 10) / 10);
  pair.push_back(std::round(second * 10) / 10);
  return pair;
}

graph::Block make_state(std::string name, std::string kind, std::string type) {
  graph::Block block;
  block.path = name;
  block.name = std::move(name);
  block.kind = std::move(kind);
  block.statements = std::move(type);
  return block;
}

/// The plan as a graph of blocks without a text.
graph::Agent make_graph(const Json& plan) {
  graph::Agent agent;
  agent.name = plan.text_or("goal", "");
  agent.start = "";
  agent.sequences.push_back({{}, "", "", {}});
  std::vector<graph::Block>& states = agent.sequences.front().blocks;
  states.push_back(make_state("start", "start", plan.text_or("start_type", "")));
  for (const Json& action : plan.get("actions").items()) {
    const bool is_reachable = action.get("reachable").as_boolean();
    states.push_back(
        make_state(action.text_or("name", ""), is_reachable ? "action" : "dead action", action.text_or("gives", "")));
  }
  states.push_back(make_state("goal", "goal", plan.text_or("goal_type", "")));
  for (const Json& edge : plan.get("edges").items()) {
    // Without requirements, and never taken: the types do not fit.
    const bool fits = edge.text_or("passage", "") != "never" || edge.get("requirements").size() > 0;
    if (!fits) continue;
    for (graph::Block& state : states) {
      if (state.name != edge.text_or("from", "")) continue;
      state.edges.push_back({graph::EdgeKind::To, edge.text_or("passage", ""), "", edge.text_or("to", ""), {}});
    }
  }
  return agent;
}

Json to_json(const graph::PlacedBlock& placed, const graph::PlacedSequence& around, graph::Point origin) {
  Json edges = Json::array();
  for (const graph::Edge& edge : placed.block->edges) {
    Json json = Json::object({{"kind", "to"}, {"label", edge.label}, {"passage", edge.label}, {"target", edge.target}});
    for (const graph::PlacedEdge& line : around.edges) {
      if (line.edge != &edge) continue;
      Json points = Json::array();
      for (const graph::Point& point : line.points) points.push_back(pair_of(origin.x + point.x, origin.y + point.y));
      json["points"] = std::move(points);
      json["text"] = line.text;
      json["text_at"] = pair_of(origin.x + line.text_middle.x, origin.y + line.text_middle.y);
    }
    edges.push_back(std::move(json));
  }
  const Json range = Json::object({{"offset", 0}, {"length", 0}});
  return Json::object({{"path", placed.block->path},
                       {"name", placed.block->name},
                       {"kind", placed.block->kind},
                       {"excerpt", placed.block->statements},
                       {"range", range},
                       {"options", Json::array()},
                       {"at", pair_of(origin.x + placed.corner.x, origin.y + placed.corner.y)},
                       {"size", pair_of(placed.size.width, placed.size.height)},
                       {"edges", std::move(edges)}});
}

}  // namespace

Json draw_plan(const Json& plan) {
  const graph::Agent agent = make_graph(plan);
  const graph::PlacedAgent placed = graph::place(agent, graph::BoxText::Excerpt);
  Json blocks = Json::array();
  Json sequences = Json::array();
  for (const graph::PlacedSequence& sequence : placed.sequences) {
    const graph::Point origin{sequence.corner.x + sequence.contents.x, sequence.corner.y + sequence.contents.y};
    for (const graph::PlacedBlock& block : sequence.blocks) blocks.push_back(to_json(block, sequence, origin));
  }
  sequences.push_back(Json::object({{"path", ""}, {"name", ""}, {"blocks", std::move(blocks)}}));
  return Json::object({{"name", agent.name},
                       {"range", plan.get("range")},
                       {"start", "start"},
                       {"state", Json::array()},
                       {"scratchpad", Json::array()},
                       {"functions", Json::array()},
                       {"size", pair_of(placed.size.width, placed.size.height)},
                       {"sequences", std::move(sequences)}});
}

}  // namespace tenon::server
