// Contracts: `requires`, `ensures` and `check` in a function's head, and the strategy by which they come to hold.

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "diagnostics/kinds.h"
#include "syntax/limited_call.h"
#include "syntax/literals.h"
#include "types/check/checker.h"
#include "types/check/purity.h"

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

void Checker::find_judge() {
  if (!program_.contracts_module.exists()) return;
  const Module& module = program_.modules[program_.contracts_module.index];
  program_.judge = module.functions.at("judge");
  program_.verdict = module.type_names.at("Verdict");
}

void Checker::check_contracts(FunctionId id) {
  // Declarations may move while contracts are checked: a type's name may be met first here.
  const syntax::NodeId node = program_.functions[id.index].node;
  const TypeId result = program_.functions[id.index].result;
  std::vector<Contract> contracts;
  for (const NodeId clause : tree().children(node, NodeKind::ContractClause)) {
    Contract contract;
    contract.kind = kind_of(tree().main_text(clause));
    contract.expression = tree().first(clause);
    if (!contract.expression.exists()) continue;
    const Scope scope(*this);
    // What is shown before there is a value cannot speak of it.
    contract.words = tree().next(contract.expression);
    contract_scope_ = scope_.size();
    if (contract.words.exists()) {
      check_value(contract.words, TypeTable::string);
      check_contract_expression(contract.words);
    }
    if (contract.kind != ContractKind::Requires && result != TypeTable::unit) {
      contract.result = declare_local("result", result, tree().main_span(clause));
    }
    contract_scope_ = scope_.size();
    const TypeId type = check_expression(contract.expression, Wanted::any());
    check_contract_expression(contract.expression);
    if (contract.result.exists()) refuse_shadowed_result(id, contract);
    contract.is_judged = is_text(type);
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
    contract_scope_.reset();
  }
  program_.functions[id.index].contracts = std::move(contracts);
  const std::vector<NodeId> clauses = tree().children(node, NodeKind::StrategyClause);
  if (clauses.size() > 1) {
    diagnostics_.report(diagnostics::SecondStrategy, tree().span(clauses[1]));
  }
  if (!clauses.empty()) {
    const auto strategy = read_strategy(clauses[0]);
    program_.functions[id.index].strategy = strategy.value_or(Strategy{});
    program_.functions[id.index].has_faulty_strategy = !strategy;
  }
}

/// In a contract `result` is the value, so that a parameter of that name cannot be meant there.
void Checker::refuse_shadowed_result(FunctionId id, const Contract& contract) {
  const std::vector<Parameter>& parameters = program_.functions[id.index].parameters;
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

/// A contract looks at values: it asks nobody and changes nothing, so that it can be tried at any time.
void Checker::check_contract_expression(NodeId node) {
  const auto refuse = [&](std::string_view what) {
    diagnostics_.report(diagnostics::ContractSideEffect, tree().span(node), std::string(what))
        .hint("write conditions for a model to judge as text: `ensures \"is polite\"`");
  };
  switch (tree().kind(node)) {
    case NodeKind::HoleExpression:
      return refuse("a hole");
    case NodeKind::SelectExpression:
      return refuse("`select`");
    case NodeKind::ReturnExpression:
      return refuse("`return`");
    case NodeKind::NameExpression:
      if (facts(node).type == TypeTable::context) return refuse("a context");
      break;
    default:
      break;
  }
  const Target& target = facts(node).target;
  if (target.kind == TargetKind::NewContext) return refuse("a context");
  if (target.kind == TargetKind::Extern) {
    return refuse(fmt::format("a call of the extern `{}`", program_.externs[target.index].name));
  }
  if (target.kind == TargetKind::Function && program_.functions[target.index].role != FunctionRole::Written) {
    return refuse("a call of an agent");
  }
  const Target called = target;
  const std::size_t errors = diagnostics_.error_count();
  for (NodeId child = tree().first(node); child.exists(); child = tree().next(child)) check_contract_expression(child);
  if (called.kind == TargetKind::Function && errors == diagnostics_.error_count()) {
    contract_calls_.push_back({module_id_, node, FunctionId{called.index}});
  }
}

/// The same of what contracts call, when all bodies are known.
void Checker::check_contract_calls() {
  std::vector<FunctionId> called;
  for (const ContractCall& call : contract_calls_) called.push_back(call.callee);
  const Purity purity(program_, called);
  for (const ContractCall& call : contract_calls_) {
    const auto effect = purity.effect_of(call.callee);
    if (!effect) continue;
    enter_module(call.module);
    diagnostics_
        .report(diagnostics::ContractSideEffect, tree().span(call.node),
                fmt::format("a call of `{}` (which leads to {})", program_.functions[call.callee.index].name, *effect))
        .hint("write conditions for a model to judge as text: `ensures \"is polite\"`");
  }
}

/// Nothing when it is none, which is told.
std::optional<Strategy> Checker::read_strategy(NodeId clause) {
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

/// Of a function whose body has been checked.
void Checker::check_strategy_fits(NodeId node, const FunctionDeclaration& function, const Strategy& strategy) {
  const bool ranks = std::any_of(function.contracts.begin(), function.contracts.end(),
                                 [](const Contract& contract) { return contract.kind != ContractKind::Requires; });
  if (!function.is_completed) {
    diagnostics_.report(diagnostics::StrategyWithoutModel, tree().span(node), function.name);
  } else if (!ranks && strategy.kind != Strategy::Kind::Vote) {
    diagnostics_.report(diagnostics::StrategyWithoutContract, tree().span(node), function.name);
  }
}

TypeId Checker::check_strategy(NodeId node, Wanted wanted) {
  const NodeId call = tree().first(node);
  if (!call.exists()) return TypeTable::error;
  const NodeId clause = tree().find_child(node, NodeKind::StrategyClause);
  if (!clause.exists()) return TypeTable::error;
  const syntax::LimitedCall inner = syntax::read_limited_call(tree(), call);
  if (inner.strategy.exists()) {
    diagnostics_.report(diagnostics::SecondStrategy, tree().span(clause));
  }
  const TypeId type = check_kind(call, wanted);
  record(call, type);
  const Target target = facts(inner.call).target;
  check_call_strategy(node, clause, type == TypeTable::error ? Target{} : target);
  return type;
}

/// `target`: of the call, or none where that has been told to be wrong.
void Checker::check_call_strategy(NodeId node, NodeId clause, const Target& target) {
  const auto strategy = read_strategy(clause);
  module_->strategies.emplace(clause.index, strategy.value_or(Strategy{}));
  if (target.kind == TargetKind::None) return;
  const bool is_written = target.kind == TargetKind::Function &&
                          program_.functions[target.index].role == FunctionRole::Written && target.detail == 0;
  if (!is_written) {
    diagnostics_.report(diagnostics::StrategyWithoutCall, tree().span(node));
  } else if (strategy) {
    strategic_calls_.push_back({module_id_, clause, FunctionId{target.index}, *strategy});
  }
}

}  // namespace tenon::types
