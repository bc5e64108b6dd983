#include "compiler/outer_contracts.h"

#include <algorithm>

#include "syntax/limited_call.h"

namespace tenon::compiler {

using syntax::NodeId;
using syntax::NodeKind;
using types::FunctionId;

namespace {

class ReturnedCalls {
 public:
  explicit ReturnedCalls(const types::Module& module) : module_(module), tree_(*module.tree) {}

  std::vector<NodeId> calls;

  /// The node's value is returned.
  void take(NodeId node) {
    if (!node.exists() || module_.facts_of(node).narrowed_to.exists()) return;
    switch (tree_.kind(node)) {
      case NodeKind::Block:
        return take_last(node);
      case NodeKind::ParenthesizedExpression:
        return take(tree_.first(node));
      case NodeKind::IfExpression:
        for (NodeId part = tree_.next(tree_.first(node)); part.exists(); part = tree_.next(part)) take(part);
        return;
      case NodeKind::MatchExpression:
        for (const NodeId arm : tree_.children(node, NodeKind::MatchArm)) take(tree_.children(arm).back());
        return;
      case NodeKind::SelectExpression:
        for (const NodeId clause : tree_.children(node, NodeKind::SelectClause)) take(tree_.children(clause).back());
        return;
      case NodeKind::BudgetExpression: {
        const syntax::LimitedCall limited = syntax::read_limited_call(tree_, node);
        if (!limited.strategy.exists()) take(limited.call);
        return;
      }
      case NodeKind::CallExpression:
        calls.push_back(node);
        return;
      default:
        return;
    }
  }

  void take_returns(NodeId node) {
    const NodeKind kind = tree_.kind(node);
    if (kind == NodeKind::ClosureExpression || kind == NodeKind::ParallelExpression) return;
    if (kind == NodeKind::ForExpression && tree_.find_child(node, NodeKind::ParallelClause).exists()) return;
    if (kind == NodeKind::ReturnExpression) take(tree_.first(node));
    if (kind == NodeKind::Block) take_bound_returns(tree_.children(node));
    for (NodeId child = tree_.first(node); child.exists(); child = tree_.next(child)) take_returns(child);
  }

 private:
  void take_last(NodeId block) {
    const std::vector<NodeId> statements = tree_.children(block);
    if (statements.empty()) return;
    const NodeId last = statements.back();
    if (tree_.kind(last) != NodeKind::ExpressionStatement || tree_.ends_with_semicolon(last)) return;
    take(tree_.first(last));
    if (statements.size() > 1) take_bound(tree_.first(last), statements[statements.size() - 2]);
  }

  /// `let r = …` and `return r` right after it.
  void take_bound_returns(const std::vector<NodeId>& statements) {
    for (std::size_t at = 1; at < statements.size(); ++at) {
      const NodeId returned = tree_.first(statements[at]);
      const bool is_return = tree_.kind(statements[at]) == NodeKind::ExpressionStatement && returned.exists() &&
                             tree_.kind(returned) == NodeKind::ReturnExpression && tree_.first(returned).exists();
      if (is_return) take_bound(tree_.first(returned), statements[at - 1]);
    }
  }

  /// The value of the `let`, if the returned expression is the variable that it declares.
  void take_bound(NodeId returned, NodeId statement) {
    if (tree_.kind(returned) != NodeKind::NameExpression || tree_.kind(statement) != NodeKind::LetStatement) return;
    const NodeId pattern = tree_.first(statement);
    const types::NodeFacts& name = module_.facts_of(returned);
    const types::Target& declared = module_.facts_of(pattern).target;
    const bool is_it = tree_.kind(pattern) == NodeKind::NamePattern && declared.kind == types::TargetKind::Local &&
                       name.target.kind == types::TargetKind::Local && name.target.index == declared.index;
    if (!is_it || name.narrowed_to.exists()) return;
    NodeId value = tree_.next(pattern);
    if (value.exists() && syntax::is_type(tree_.kind(value))) value = tree_.next(value);
    take(value);
  }

  const types::Module& module_;
  const syntax::SyntaxTree& tree_;
};

/// The called function, if the call needs nothing but it.
FunctionId called_function(const types::Module& module, NodeId call) {
  const types::Target& target = module.facts_of(call).target;
  return target.kind == types::TargetKind::Function ? FunctionId{target.index} : FunctionId{};
}

}  // namespace

std::vector<NodeId> list_returned_calls(const types::Module& module, NodeId body) {
  ReturnedCalls returned(module);
  returned.take(body);
  returned.take_returns(body);
  return std::move(returned.calls);
}

FunctionId ViolationReaders::violations() const {
  if (!program_.contracts_module.exists()) return {};
  return program_.modules[program_.contracts_module.index].functions.at("violations");
}

bool ViolationReaders::contains(FunctionId function) {
  const auto [found, is_new] = known_.try_emplace(function.index, false);
  if (!is_new) return found->second;
  const types::FunctionDeclaration& declaration = program_.functions[function.index];
  const bool may = declaration.role == types::FunctionRole::Written && !declaration.agent.exists() &&
                   !declaration.is_completed && !declaration.is_test;
  if (!may || !violations().exists()) return false;
  const types::Module& module = program_.modules[declaration.module.index];
  const NodeId body = module.tree->find_child(declaration.node, NodeKind::Block);
  bool reads = calls_violations(module, body);
  if (!reads) {
    const std::vector<NodeId> calls = list_returned_calls(module, body);
    reads = std::any_of(calls.begin(), calls.end(), [&](NodeId call) {
      const FunctionId callee = called_function(module, call);
      return callee.exists() && contains(callee);
    });
  }
  known_[function.index] = reads;
  return reads;
}

bool ViolationReaders::calls_violations(const types::Module& module, NodeId node) const {
  if (module.tree->kind(node) == NodeKind::CallExpression && called_function(module, node) == violations()) return true;
  for (NodeId child = module.tree->first(node); child.exists(); child = module.tree->next(child)) {
    if (calls_violations(module, child)) return true;
  }
  return false;
}

}  // namespace tenon::compiler
