#include "graph/name_uses.h"

#include <algorithm>

#include "syntax/scopes.h"

namespace tenon::graph {
namespace {

using syntax::NodeId;
using syntax::NodeKind;
using syntax::SyntaxTree;
using syntax::TokenIndex;

template <class Use>
void visit(const SyntaxTree& tree, NodeId node, const Use& use) {
  use(node);
  for (NodeId child = tree.first(node); child.exists(); child = tree.next(child)) visit(tree, child, use);
}

bool declares_variable(const SyntaxTree& tree, NodeId node) {
  switch (tree.kind(node)) {
    case NodeKind::Parameter:
    case NodeKind::NamePattern:
    case NodeKind::ItemClause:
    case NodeKind::CatchExpression:
      return true;
    case NodeKind::FieldPattern:
      return !tree.first(node).exists();
    default:
      return false;
  }
}

bool contains(const SyntaxTree& tree, NodeId node, TokenIndex token) {
  return tree[node].first_token <= token && token < tree[node].end_token;
}

}  // namespace

NodeId NameUses::find_variable(std::string_view name, TokenIndex use, NodeId within) const {
  // Only what is around the use can have its variables.
  for (NodeId around = within; around.exists();) {
    if (syntax::holds_variables(tree_.kind(around))) {
      NodeId found;
      const auto search = [&](const auto& self, NodeId node) -> void {
        if (found.exists()) return;
        const bool is_declared = declares_variable(tree_, node) && tree_.main_text(node) == name;
        if (is_declared && tree_[node].main_token <= use) found = node;
        for (NodeId child = tree_.first(node); child.exists(); child = tree_.next(child)) {
          if (!syntax::holds_variables(tree_.kind(child))) self(self, child);
        }
      };
      search(search, around);
      if (found.exists()) return found;
    }
    NodeId inner = tree_.first(around);
    while (inner.exists() && !contains(tree_, inner, use)) inner = tree_.next(inner);
    around = inner;
  }
  return {};
}

std::vector<TokenIndex> NameUses::of_field(NodeId below, std::string_view owner, std::string_view field) const {
  std::vector<TokenIndex> uses;
  visit(tree_, below, [&](NodeId node) {
    if (tree_.kind(node) != NodeKind::FieldExpression || tree_.main_text(node) != field) return;
    const NodeId place = tree_.first(node);
    if (!place.exists() || tree_.kind(place) != NodeKind::NameExpression || tree_.text(place) != owner) return;
    if (!find_variable(owner, tree_[place].first_token).exists()) uses.push_back(tree_[node].main_token);
  });
  return uses;
}

std::vector<TokenIndex> NameUses::of_declaration(NodeId declaration) const {
  const std::string_view name = tree_.main_text(declaration);
  const bool is_function =
      tree_.kind(declaration) == NodeKind::FunctionItem || tree_.kind(declaration) == NodeKind::ExternItem;
  bool is_method = false;
  std::vector<std::pair<TokenIndex, TokenIndex>> hidden;  // agents whose own functions have the name
  for (NodeId item = tree_.first(tree_.root); item.exists(); item = tree_.next(item)) {
    for (const NodeId function : tree_.children(item, NodeKind::FunctionItem)) {
      if (tree_.main_text(function) != name) continue;
      if (tree_.kind(item) == NodeKind::ImplItem) is_method = true;
      if (tree_.kind(item) == NodeKind::AgentItem) hidden.emplace_back(tree_[item].first_token, tree_[item].end_token);
    }
  }
  std::vector<TokenIndex> uses;
  const auto add = [&](TokenIndex token) {
    const auto is_hidden = [&](const auto& range) { return range.first <= token && token < range.second; };
    if (is_function && std::ranges::any_of(hidden, is_hidden)) return;
    uses.push_back(token);
  };
  visit(tree_, tree_.root, [&](NodeId node) {
    const NodeKind kind = tree_.kind(node);
    if (kind == NodeKind::NameExpression || kind == NodeKind::PathPattern || kind == NodeKind::StructPattern ||
        kind == NodeKind::ScriptEntry) {
      const std::vector<TokenIndex> path = tree_.path(node);
      if (path.empty() || tree_.text(path.front()) != name) return;
      if (path.size() > 1 ? is_function : find_variable(name, path.front()).exists()) return;
      add(path.front());
    } else if (kind == NodeKind::NamedType || kind == NodeKind::ImplItem) {
      if (!is_function && tree_.main_text(node) == name) add(tree_[node].main_token);
    } else if (kind == NodeKind::CalledClause) {
      const TokenIndex tool = tree_.next_significant(tree_[node].first_token);
      if (tree_.text(tool) == name) add(tool);
    } else if (kind == NodeKind::MethodCallExpression && is_function && !is_method) {
      if (tree_.main_text(node) == name) add(tree_[node].main_token);  // `order.total()` calls `total(order)`
    }
  });
  return uses;
}

std::vector<TokenIndex> NameUses::of_function(NodeId agent, std::string_view function) const {
  std::vector<TokenIndex> uses;
  const std::string_view owner = tree_.main_text(agent);
  visit(tree_, tree_.root, [&](NodeId node) {
    const NodeKind kind = tree_.kind(node);
    const bool is_inside = contains(tree_, agent, tree_[node].first_token);
    if (kind == NodeKind::NameExpression || kind == NodeKind::ScriptEntry) {
      const std::vector<TokenIndex> path = tree_.path(node);
      if (path.size() == 2 && tree_.text(path[0]) == owner && tree_.text(path[1]) == function) uses.push_back(path[1]);
      const bool is_own = is_inside && path.size() == 1 && tree_.text(path[0]) == function;
      if (is_own && !find_variable(function, path[0]).exists()) uses.push_back(path[0]);
    } else if (kind == NodeKind::CalledClause && is_inside) {
      const TokenIndex tool = tree_.next_significant(tree_[node].first_token);
      if (tree_.text(tool) == function) uses.push_back(tool);
    } else if (kind == NodeKind::MethodCallExpression && is_inside && tree_.main_text(node) == function) {
      uses.push_back(tree_[node].main_token);
    }
  });
  return uses;
}

}  // namespace tenon::graph
