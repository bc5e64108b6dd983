// Contracts: `requires`, `ensures` and `check` in a function's head, and strategies.

#include "types/check/rules/contracts.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>

#include "diagnostics/kinds.h"
#include "syntax/limited_call.h"
#include "syntax/literals.h"
#include "types/check/body_checker.h"
#include "types/check/rules/purity.h"

namespace tenon::types {
namespace {

using Kind = Strategy::Kind;
constexpr std::array<std::pair<std::string_view, Kind>, 5> strategies = {{{"repair", Kind::Repair},
                                                                          {"converse", Kind::Converse},
                                                                          {"reject", Kind::Reject},
                                                                          {"vote", Kind::Vote},
                                                                          {"best_of", Kind::BestOf}}};

ContractKind kind_of(std::string_view word) {
  if (word == "requires") return ContractKind::Requires;
  return word == "ensures" ? ContractKind::Ensures : ContractKind::Check;
}

}  // namespace

void ContractChecker::check_contracts() {
  const NodeId node = body_.function.node;
  const TypeId result = body_.function.result;
  std::vector<Contract> contracts;
  for (const NodeId clause : tree().children(node, NodeKind::ContractClause)) {
    Contract contract;
    contract.kind = kind_of(tree().main_text(clause));
    contract.expression = tree().first(clause);
    if (!contract.expression.exists()) continue;
    const Scope scope(body_);
    // What is shown before there is a value cannot speak of it.
    contract.words = tree().next(contract.expression);
    body_.contract_scope = body_.scope.size();
    if (contract.words.exists()) {
      check_value(contract.words, TypeTable::string);
      check_contract_expression(contract.words);
    }
    if (contract.kind != ContractKind::Requires && result != TypeTable::unit) {
      contract.result = declare_local("result", result, tree().main_span(clause));
    }
    body_.contract_scope = body_.scope.size();
    const TypeId type = check_expression(contract.expression, Expectation::any());
    check_contract_expression(contract.expression);
    if (contract.result.exists()) reject_shadowed_result(contract);
    contract.is_judged = is_text(types_, type);
    if (types_.base(type) != TypeTable::boolean && !contract.is_judged && type != TypeTable::error) {
      diagnostics_.report(diagnostics::ContractType, tree().span(contract.expression), describe(type));
    }
    if (contract.is_judged && contract.words.exists()) {
      diagnostics_.report(diagnostics::TextContractWithAs, tree().span(contract.words));
    }
    for (const NodeId text : {contract.expression, contract.words}) {
      if (!text.exists() || tree().kind(text) != NodeKind::StringExpression) continue;
      const auto plain = syntax::plain_string(tree(), text);
      if (plain && plain->find_first_not_of(" \t\n") == std::string::npos) {
        diagnostics_.report(diagnostics::EmptyContractText, tree().span(text));
      }
    }
    contracts.push_back(contract);
    body_.contract_scope.reset();
  }
  body_.result.contracts = std::move(contracts);
  const std::vector<NodeId> clauses = tree().children(node, NodeKind::StrategyClause);
  if (clauses.size() > 1) {
    diagnostics_.report(diagnostics::SecondStrategy, tree().span(clauses[1]));
  }
  if (!clauses.empty()) {
    const auto strategy = read_strategy(clauses[0]);
    body_.result.strategy = strategy.value_or(Strategy{});
    body_.result.has_faulty_strategy = !strategy;
  }
}

/// In a contract `result` is the value, so a parameter of that name cannot be used there.
void ContractChecker::reject_shadowed_result(const Contract& contract) {
  const std::vector<Parameter>& parameters = body_.function.parameters;
  const auto parameter =
      std::find_if(parameters.begin(), parameters.end(), [](const Parameter& one) { return one.name == "result"; });
  if (parameter == parameters.end()) return;
  const auto find = [&](const auto& self, NodeId node) -> NodeId {
    const Target& target = facts(node).target;
    if (target.kind == TargetKind::Local && target.index == contract.result.index) return node;
    for (NodeId child = tree().first(node); child.exists(); child = tree().next(child)) {
      if (const NodeId found = self(self, child); found.exists()) return found;
    }
    return {};
  };
  if (const NodeId name = find(find, contract.expression); name.exists()) {
    diagnostics_.report(diagnostics::ResultNameConflict, tree().span(name))
        .label(parameter->span, "the parameter is declared here")
        .hint("rename the parameter");
  }
}

/// A contract only computes: it has no effects and changes nothing, so that it can be evaluated at any time.
void ContractChecker::check_contract_expression(NodeId node) {
  const auto reject = [&](std::string_view what) {
    diagnostics_.report(diagnostics::ContractSideEffect, tree().span(node), std::string(what))
        .hint("write conditions for a model to judge as text: `ensures \"is polite\"`");
  };
  switch (tree().kind(node)) {
    case NodeKind::HoleExpression:
      return reject("a hole");
    case NodeKind::SelectExpression:
      return reject("`select`");
    case NodeKind::ReturnExpression:
      return reject("`return`");
    case NodeKind::NameExpression:
      if (facts(node).type == TypeTable::context) return reject("a context");
      break;
    default:
      break;
  }
  const Target& target = facts(node).target;
  if (target.kind == TargetKind::NewContext) return reject("a context");
  if (target.kind == TargetKind::Extern) {
    return reject(fmt::format("a call of the extern `{}`", program_.externs[target.index].name));
  }
  if (target.kind == TargetKind::Function && program_.functions[target.index].role != FunctionRole::Written) {
    return reject("a call of an agent");
  }
  const Target called = target;
  const std::size_t errors = diagnostics_.error_count();
  for (NodeId child = tree().first(node); child.exists(); child = tree().next(child)) check_contract_expression(child);
  if (called.kind == TargetKind::Function && errors == diagnostics_.error_count()) {
    body_.result.contract_calls.push_back({body_.module_id, node, FunctionId{called.index}});
  }
}

/// Nothing if it is not valid, which is reported.
std::optional<Strategy> ContractChecker::read_strategy(NodeId clause) {
  Strategy strategy;
  constexpr std::string_view expected =
      "use one of `repair`, `converse`, `reject`, `vote` and `best_of` with a number, such as `vote: 5`";
  const std::vector<NodeId> arguments = tree().children(clause, NodeKind::NamedArgument);
  if (arguments.size() != 1) {
    const source::Span span = tree().span(clause);
    auto& report = arguments.empty() ? diagnostics_.report(diagnostics::MissingStrategy, span)
                                     : diagnostics_.report(diagnostics::SecondStrategy, span);
    report.hint(std::string(expected));
    return std::nullopt;
  }
  const NodeId argument = arguments[0];
  const std::string_view name = tree().main_text(argument);
  const auto* const found =
      std::find_if(strategies.begin(), strategies.end(), [&](const auto& entry) { return entry.first == name; });
  if (found == strategies.end()) {
    diagnostics_.report(diagnostics::UnknownStrategy, tree().span(argument), std::string(name))
        .hint(std::string(expected));
    return std::nullopt;
  }
  strategy.kind = found->second;
  const NodeId value = tree().first(argument);
  if (!value.exists()) return strategy;
  std::optional<std::uint64_t> number;
  if (tree().kind(value) == NodeKind::IntegerExpression) {
    if (const auto read = syntax::integer_value(tree().text(value))) number = *read;
  }
  // A vote of one is an answer that is sampled.
  const std::uint64_t fewest = strategy.kind == Kind::Vote ? 1 : strategy.kind == Kind::BestOf ? 2 : 0;
  if (!number || *number < fewest || *number > strategy_count_max) {
    diagnostics_.report(diagnostics::InvalidStrategyCount, tree().span(value), std::string(name), fewest,
                        strategy_count_max);
    return std::nullopt;
  }
  strategy.count = static_cast<std::uint32_t>(*number);
  return strategy;
}

void report_unfit_strategy(source::Span span, const std::string& callee, bool is_completed,
                           std::span<const Contract> contracts, const Strategy& strategy,
                           diagnostics::Diagnostics& diagnostics) {
  const bool ranks = std::any_of(contracts.begin(), contracts.end(),
                                 [](const Contract& contract) { return contract.kind != ContractKind::Requires; });
  if (!is_completed) {
    diagnostics.report(diagnostics::StrategyWithoutModel, span, callee);
  } else if (!ranks && strategy.kind != Strategy::Kind::Vote) {
    diagnostics.report(diagnostics::StrategyWithoutContract, span, callee);
  }
}

TypeId ContractChecker::check_strategy(NodeId node, Expectation expected) {
  const NodeId call = tree().first(node);
  if (!call.exists()) return TypeTable::error;
  const NodeId clause = tree().find_child(node, NodeKind::StrategyClause);
  if (!clause.exists()) return TypeTable::error;
  const syntax::LimitedCall inner = syntax::read_limited_call(tree(), call);
  if (inner.strategy.exists()) {
    diagnostics_.report(diagnostics::SecondStrategy, tree().span(clause));
  }
  const TypeId type = check_kind(call, expected);
  record(call, type);
  const Target target = facts(inner.call).target;
  check_call_strategy(node, clause, type == TypeTable::error ? Target{} : target);
  return type;
}

/// `target`: of the call, or none if an error in the call has been reported.
void ContractChecker::check_call_strategy(NodeId node, NodeId clause, const Target& target) {
  const auto strategy = read_strategy(clause);
  body_.result.strategies.emplace(clause.index, strategy.value_or(Strategy{}));
  if (target.kind == TargetKind::None) return;
  const bool is_written = target.kind == TargetKind::Function &&
                          program_.functions[target.index].role == FunctionRole::Written && target.detail == 0;
  if (!is_written) {
    diagnostics_.report(diagnostics::StrategyWithoutCall, tree().span(node));
  } else if (strategy) {
    body_.result.strategic_calls.push_back({body_.module_id, clause, FunctionId{target.index}, *strategy});
  }
}

}  // namespace tenon::types
