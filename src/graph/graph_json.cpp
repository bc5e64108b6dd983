#include "graph/graph_json.h"

#include "base/sha256.h"
#include "json/json.h"

namespace tenon::graph {
namespace {

class Writer {
 public:
  explicit Writer(const syntax::SyntaxTree& tree) : tree_(tree) {}

  [[nodiscard]] Json agent(const Agent& agent) const {
    Json json = Json::object({{"name", agent.name}});
    if (!agent.documentation.empty()) json["documentation"] = agent.documentation;
    json["range"] = range(agent.node);
    json["start"] = agent.first_block();
    if (agent.next_turn) json["next_turn"] = *agent.next_turn;
    json["state"] = fields(agent.state);
    json["scratchpad"] = fields(agent.scratchpad);
    json["sequences"] = sequences(agent.sequences);
    return json;
  }

 private:
  [[nodiscard]] Json range(syntax::NodeId node) const {
    const source::Span span = tree_.span(node);
    return Json::object({{"offset", span.offset}, {"length", span.length}});
  }

  [[nodiscard]] static Json fields(const std::vector<Setting>& settings) {
    Json json = Json::array();
    for (const Setting& field : settings) {
      json.push_back(Json::object({{"name", field.name}, {"type", field.type}, {"value", field.value}}));
    }
    return json;
  }

  [[nodiscard]] Json sequences(const std::vector<Sequence>& sequences) const {
    Json json = Json::array();
    for (const Sequence& sequence : sequences) {
      Json blocks = Json::array();
      for (const Block& one : sequence.blocks) blocks.push_back(block(one));
      json.push_back(Json::object({{"path", sequence.path}, {"name", sequence.name}, {"blocks", std::move(blocks)}}));
    }
    return json;
  }

  [[nodiscard]] Json block(const Block& block) const {
    Json json = Json::object({{"path", block.path}, {"name", block.name}, {"kind", block.kind}});
    if (!block.documentation.empty()) json["documentation"] = block.documentation;
    json["range"] = range(block.node);
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
    for (const Edge& edge : block.edges) {
      Json one = Json::object({{"kind", name_of(edge.kind)}});
      if (!edge.label.empty()) one["label"] = edge.label;
      if (!edge.on.empty()) one["on"] = edge.on;
      one["target"] = edge.target;
      edges.push_back(std::move(one));
    }
    json["edges"] = std::move(edges);
    if (!block.nested.empty()) json["sequences"] = sequences(block.nested);
    return json;
  }

  const syntax::SyntaxTree& tree_;
};

}  // namespace

std::string to_json(const Graph& graph, const syntax::SyntaxTree& tree) {
  Json agents = Json::array();
  for (const Agent& agent : graph.agents) agents.push_back(Writer(tree).agent(agent));
  return Json::object({{"version", version_of(tree.file().text())}, {"agents", std::move(agents)}})
      .dump(JsonForm::Pretty);
}

std::string version_of(std::string_view text) {
  return "sha256:" + sha256(text).hex();
}

}  // namespace tenon::graph
