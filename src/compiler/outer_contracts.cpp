#include "compiler/outer_contracts.h"

#include <algorithm>
#include <span>

#include "syntax/limited_call.h"
#include "types/builtin_methods.h"

namespace tenon::compiler {

using syntax::NodeId;
using syntax::NodeKind;
using types::FunctionId;

namespace {

class ReturnedCalls {
 public:
  ReturnedCalls(const types::CheckedProgram& program, const types::Module& module)
      : program_(program), module_(module), tree_(*module.tree) {}

  std::vector<NodeId> calls;

  /// The node's value is returned.
  void take(NodeId node) {
    if (!node.exists() || module_.facts_of(node).narrowed_to.exists()) return;
    switch (tree_.kind(node)) {
      case NodeKind::Block:
        return take_last(node);
      case NodeKind::ParenthesizedExpression:
      case NodeKind::ShieldExpression:
      case NodeKind::FinallyExpression:
        return take(tree_.first(node));
      case NodeKind::CatchExpression:
        take(tree_.first(node));
        return take(tree_.next(tree_.first(node)));
      case NodeKind::IfExpression:
        for (NodeId part = tree_.next(tree_.first(node)); part.exists(); part = tree_.next(part)) take(part);
        return;
      case NodeKind::MatchExpression:
        for (const NodeId arm : tree_.children(node, NodeKind::MatchArm)) take(tree_.children(arm).back());
        return;
      case NodeKind::SelectExpression:
        for (const NodeId clause : tree_.children(node, NodeKind::SelectClause)) take_clause(clause);
        return;
      case NodeKind::BudgetExpression: {
        const syntax::LimitedCall limited = syntax::read_limited_call(tree_, node);
        if (!limited.strategy.exists()) take(limited.call);
        return;
      }
      case NodeKind::CallExpression:
      case NodeKind::MethodCallExpression:
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
    take_bound(tree_.first(last), std::span(statements).first(statements.size() - 1));
  }

  /// `call as r => r` returns the value of the clause's call.
  void take_clause(NodeId clause) {
    const NodeId body = tree_.children(clause).back();
    const NodeId called = tree_.first(clause);
    if (called != body && is_local(body, module_.facts_of(clause).target)) return take(called);
    take(body);
  }

  /// `let r = …` and a `return r` after it.
  void take_bound_returns(const std::vector<NodeId>& statements) {
    for (std::size_t at = 1; at < statements.size(); ++at) {
      const NodeId returned = tree_.first(statements[at]);
      const bool is_return = tree_.kind(statements[at]) == NodeKind::ExpressionStatement && returned.exists() &&
                             tree_.kind(returned) == NodeKind::ReturnExpression && tree_.first(returned).exists();
      if (is_return) take_bound(tree_.first(returned), std::span(statements).first(at));
    }
  }

  /// The value of the `let` among the statements before, if the returned expression is the variable that it declares,
  /// and what is between them neither changes the variable nor ends the function.
  void take_bound(NodeId returned, std::span<const NodeId> before) {
    returned = tree_.without_parentheses(returned);
    const types::Target variable = module_.facts_of(returned).target;
    if (!is_local(returned, variable)) return;
    for (; !before.empty(); before = before.first(before.size() - 1)) {
      const NodeId statement = before.back();
      if (tree_.kind(statement) == NodeKind::LetStatement && declares(statement, variable)) {
        NodeId value = tree_.next(tree_.first(statement));
        if (value.exists() && syntax::is_type(tree_.kind(value))) value = tree_.next(value);
        if (!value.exists()) return;
        take(value);
        return take_bound(value, before.first(before.size() - 1));
      }
      if (may_prevent_return(statement, variable)) return;
    }
  }

  /// Whether the node is that variable, as a value of the variable's type.
  [[nodiscard]] bool is_local(NodeId node, const types::Target& variable) const {
    const types::NodeFacts& facts = module_.facts_of(node);
    return tree_.kind(node) == NodeKind::NameExpression && variable.kind == types::TargetKind::Local &&
           facts.target.kind == types::TargetKind::Local && facts.target.index == variable.index &&
           !facts.narrowed_to.exists();
  }

  [[nodiscard]] bool declares(NodeId let, const types::Target& variable) const {
    const NodeId pattern = tree_.first(let);
    const types::Target& declared = module_.facts_of(pattern).target;
    return tree_.kind(pattern) == NodeKind::NamePattern && declared.kind == types::TargetKind::Local &&
           declared.index == variable.index;
  }

  /// Whether the node can change the variable, or continue elsewhere than after the node.
  [[nodiscard]] bool may_prevent_return(NodeId node, const types::Target& variable) const {
    const types::Target& target = module_.facts_of(node).target;
    switch (tree_.kind(node)) {
      case NodeKind::ReturnExpression:
      case NodeKind::BreakExpression:
      case NodeKind::ContinueExpression:
      case NodeKind::AssertStatement:
        return true;
      case NodeKind::CallExpression:
        if (target.kind == types::TargetKind::Fail) return true;
        if (target.kind == types::TargetKind::Function &&
            program_.functions[target.index].role == types::FunctionRole::TakeOver)
          return true;
        break;
      case NodeKind::AssignStatement:
        if (changes(node, variable)) return true;
        break;
      case NodeKind::MethodCallExpression:
        if (target.kind == types::TargetKind::Method &&
            types::changes_receiver(static_cast<types::BuiltinMethod>(target.index)) && changes(node, variable))
          return true;
        break;
      default:
        break;
    }
    for (NodeId child = tree_.first(node); child.exists(); child = tree_.next(child)) {
      if (may_prevent_return(child, variable)) return true;
    }
    return false;
  }

  /// Whether the place that the node changes is the variable or a part of it.
  [[nodiscard]] bool changes(NodeId node, const types::Target& variable) const {
    const types::Target& root = module_.facts_of(tree_.root_of_place(tree_.first(node))).target;
    return root.kind == types::TargetKind::Local && root.index == variable.index;
  }

  const types::CheckedProgram& program_;
  const types::Module& module_;
  const syntax::SyntaxTree& tree_;
};

/// The called function, if the call needs nothing but it.
FunctionId called_function(const types::Module& module, NodeId call) {
  const types::Target& target = module.facts_of(call).target;
  return target.kind == types::TargetKind::Function ? FunctionId{target.index} : FunctionId{};
}

}  // namespace

std::vector<NodeId> list_returned_calls(const types::CheckedProgram& program, const types::Module& module,
                                        NodeId body) {
  ReturnedCalls returned(program, module);
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
    const std::vector<NodeId> calls = list_returned_calls(program_, module, body);
    reads = std::any_of(calls.begin(), calls.end(), [&](NodeId call) {
      const FunctionId callee = called_function(module, call);
      return callee.exists() && contains(callee);
    });
  }
  known_[function.index] = reads;
  return reads;
}

bool ViolationReaders::calls_violations(const types::Module& module, NodeId node) const {
  const NodeKind kind = module.tree->kind(node);
  const bool is_call = kind == NodeKind::CallExpression ||
                       (kind == NodeKind::MethodCallExpression && module.facts_of(node).target.detail == 0);
  if (is_call && called_function(module, node) == violations()) return true;
  for (NodeId child = module.tree->first(node); child.exists(); child = module.tree->next(child)) {
    if (calls_violations(module, child)) return true;
  }
  return false;
}

}  // namespace tenon::compiler
