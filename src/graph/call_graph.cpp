#include "graph/call_graph.h"

#include <algorithm>
#include <map>

#include "graph/name_uses.h"

namespace tenon::graph {
namespace {

using syntax::NodeId;
using syntax::NodeKind;
using syntax::SyntaxTree;
using syntax::TokenIndex;

constexpr std::string_view handoff_label = "hands off";

class CallReader {
 public:
  explicit CallReader(const SyntaxTree& tree) : tree_(tree), names_(tree) {}

  [[nodiscard]] Agent read() {
    Agent calls;
    calls.node = tree_.root;
    calls.name = "Calls";
    calls.start = "";
    calls.sequences.push_back({tree_.root, "", "", {}});
    blocks_ = &calls.sequences.front().blocks;
    for (NodeId item = tree_.first(tree_.root); item.exists(); item = tree_.next(item)) declare(item);
    for (const auto& [node, block] : bodies_) {
      owner_ = owner_of(node);
      read_calls(node, node, block);
    }
    return calls;
  }

 private:
  void declare(NodeId item) {
    const std::string name(tree_.main_text(item));
    switch (tree_.kind(item)) {
      case NodeKind::FunctionItem:
        return add_body(item, add(item, name, "function"));
      case NodeKind::ExternItem:
        add(item, name, "extern");
        return;
      case NodeKind::ImplItem:
        for (const NodeId function : tree_.children(item, NodeKind::FunctionItem)) {
          const std::string own(tree_.main_text(function));
          add_body(function, add(function, name + "::" + own, "method"));
          methods_.emplace(own, blocks_->size() - 1);
        }
        return;
      case NodeKind::AgentItem: {
        const std::size_t agent = add(item, name, "agent");
        agents_.emplace(name, agent);
        for (const NodeId part : tree_.children(item)) {
          const bool is_other = tree_.kind(part) == NodeKind::FunctionItem && tree_.main_text(part) != "turn";
          const std::string own = is_other ? name + "::" + std::string(tree_.main_text(part)) : "";
          add_body(part, is_other ? add(part, own, "function") : agent);
        }
        return;
      }
      default:
        return;
    }
  }

  std::size_t add(NodeId node, const std::string& name, std::string kind) {
    Block block;
    block.node = node;
    block.path = block.name = name;
    block.kind = std::move(kind);
    block.documentation = tree_.documentation(node);
    block.statements = signature_of(node);
    found_.emplace(name, blocks_->size());
    blocks_->push_back(std::move(block));
    return blocks_->size() - 1;
  }

  /// `(order: Order) -> i64`, as written.
  [[nodiscard]] std::string signature_of(NodeId node) const {
    const NodeId parameters = tree_.find_child(node, NodeKind::Parameters);
    const NodeId result = tree_.find_child(node, NodeKind::ReturnType);
    if (!parameters.exists()) return "";
    return std::string(tree_.text(parameters)) + (result.exists() ? " " + std::string(tree_.text(result)) : "");
  }

  void add_body(NodeId node, std::size_t block) { bodies_.emplace_back(node, block); }

  void read_calls(NodeId node, NodeId body, std::size_t from) {
    if (tree_.kind(node) == NodeKind::NameExpression) read_name(node, body, from);
    if (tree_.kind(node) == NodeKind::MethodCallExpression) read_method(node, from);
    if (tree_.kind(node) == NodeKind::BlockItem) read_delegate(node, from);
    for (NodeId child = tree_.first(node); child.exists(); child = tree_.next(child)) {
      const bool is_agent = tree_.kind(node) == NodeKind::BlockOption && tree_.main_text(node) == "agent";
      if (!is_agent) read_calls(child, body, from);
    }
  }

  void read_name(NodeId node, NodeId body, std::size_t from) {
    const std::vector<TokenIndex> path = tree_.path(node);
    if (path.empty()) return;
    const std::string first(tree_.text(path.front()));
    if (path.size() == 1) {
      if (names_.find_variable(first, path.front(), body).exists()) return;
      const std::string own = owner_ + first;
      const auto found = found_.contains(own) ? found_.find(own) : found_.find(first);
      const bool is_agent = found != found_.end() && (*blocks_)[found->second].kind == "agent";
      if (found != found_.end() && !is_agent) connect(from, found->second, "");
      return;
    }
    if (const auto agent = agents_.find(first); agent != agents_.end()) {
      const std::string_view called = tree_.text(path[1]);
      if (called == "run") connect(from, agent->second, "");
      if (called == "handoff") connect(from, agent->second, handoff_label);
    }
    const auto found = found_.find(first + "::" + std::string(tree_.text(path[1])));
    if (found != found_.end()) connect(from, found->second, "");
  }

  /// `Agent::` for a part of an agent.
  [[nodiscard]] std::string owner_of(NodeId body) const {
    for (const auto& [name, block] : agents_) {
      const syntax::Node& agent = tree_[(*blocks_)[block].node];
      if (agent.first_token <= tree_[body].first_token && tree_[body].first_token < agent.end_token) return name + "::";
    }
    return "";
  }

  void read_method(NodeId node, std::size_t from) {
    const std::string name(tree_.main_text(node));
    if (methods_.count(name) == 1) return connect(from, methods_.find(name)->second, "");
    const auto found = found_.find(name);
    if (found != found_.end() && (*blocks_)[found->second].kind == "function") connect(from, found->second, "");
  }

  /// `agent: Billing` of a block, perhaps with `handoff: true`.
  void read_delegate(NodeId block, std::size_t from) {
    std::string agent;
    std::string_view label;
    for (const NodeId option : tree_.children(block, NodeKind::BlockOption)) {
      const NodeId value = tree_.first(option);
      if (!value.exists()) continue;
      if (tree_.main_text(option) == "agent") agent = tree_.text(value);
      if (tree_.main_text(option) == "handoff" && tree_.text(value) == "true") label = handoff_label;
    }
    if (const auto found = agents_.find(agent); found != agents_.end()) connect(from, found->second, label);
  }

  void connect(std::size_t from, std::size_t to, std::string_view label) {
    Block& block = (*blocks_)[from];
    const std::string& target = (*blocks_)[to].name;
    const auto is_same = [&](const Edge& edge) { return edge.target == target && edge.label == label; };
    if (std::ranges::any_of(block.edges, is_same)) return;
    block.edges.push_back({label.empty() ? EdgeKind::Next : EdgeKind::To, std::string(label), "", target, block.node});
  }

  const SyntaxTree& tree_;
  NameUses names_;
  std::vector<Block>* blocks_ = nullptr;
  std::map<std::string, std::size_t> found_;   ///< blocks by name
  std::map<std::string, std::size_t> agents_;  ///< the same of agents
  std::multimap<std::string, std::size_t> methods_;
  std::string owner_;                                   ///< of the body that is read: `Agent::`, or empty
  std::vector<std::pair<NodeId, std::size_t>> bodies_;  ///< what is read for which block
};

}  // namespace

Agent make_call_graph(const syntax::SyntaxTree& tree) {
  return CallReader(tree).read();
}

}  // namespace tenon::graph
