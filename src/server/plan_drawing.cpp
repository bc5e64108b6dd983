#include "server/plan_drawing.h"

#include "graph/graph_json.h"
#include "graph/placement.h"

namespace tenon::server {
namespace {

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
  agent.start = "";  // the state that is named so shows where it begins
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

}  // namespace

Json draw_plan(const Json& plan) {
  const graph::Agent agent = make_graph(plan);
  Json drawing = graph::to_json(agent, graph::place(agent, graph::BoxText::Excerpt));
  drawing["range"] = plan.get("range");
  drawing["start"] = "start";
  for (Json& block : drawing["sequences"].mutable_items().front()["blocks"].mutable_items()) {
    for (Json& edge : block["edges"].mutable_items()) edge["passage"] = edge.get("label");
  }
  return drawing;
}

}  // namespace tenon::server
