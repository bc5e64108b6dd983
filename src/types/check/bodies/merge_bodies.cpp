#include "types/check/bodies/merge_bodies.h"

#include <fmt/format.h>

#include "diagnostics/kinds.h"
#include "types/check/bodies/map_facts.h"
#include "types/check/rules/contracts.h"
#include "types/check/rules/purity.h"
#include "types/table/type_import.h"

namespace tenon::types {

BodyMerger::BodyMerger(CheckedProgram& program, diagnostics::Diagnostics& diagnostics)
    : program_(program), diagnostics_(diagnostics) {
  for (const diagnostics::Diagnostic& diagnostic : diagnostics.all()) {
    if (diagnostic.code == diagnostics::TextType.code) {
      text_types_.emplace(diagnostic.span.file.index, diagnostic.message);
    }
  }
}

namespace {

/// From a body's own ids to those of the program.
struct ToProgram {
  TypeImport& types;
  std::uint32_t first_local;

  TypeId type(TypeId id) { return types(id); }
  [[nodiscard]] LocalId local(LocalId id) const { return id.exists() ? LocalId{id.index + first_local} : id; }
  [[nodiscard]] static FunctionId function(FunctionId id) { return id; }
  [[nodiscard]] static ExternId native(ExternId id) { return id; }
};

}  // namespace

MergedBody BodyMerger::add(FunctionId id, BodyResult result) {
  FunctionDeclaration& function = program_.functions[id.index];
  Module& module = program_.modules[function.module.index];
  // Declared types are the same in both tables; a body's own ones come in the order in which it made them.
  TypeImport import(result.types, program_.types, result.types.shared_size());
  for (std::uint32_t at = result.types.shared_size(); at < result.types.size(); ++at) {
    static_cast<void>(import(TypeId{at}));
  }
  MergedBody merged;
  for (const TypeId type : result.types.requested()) merged.requested.push_back(import(type));
  ToProgram map{import, static_cast<std::uint32_t>(program_.locals.size())};
  merged.first_node = result.first_node;
  merged.node_count = static_cast<std::uint32_t>(result.facts.size());
  merged.first_local = map.first_local;
  merged.local_count = static_cast<std::uint32_t>(result.locals.size());
  for (Local& local : result.locals) {
    local.type = import(local.type);
    program_.locals.push_back(std::move(local));
  }
  for (std::uint32_t at = 0; at < result.facts.size(); ++at) {
    const syntax::NodeId node{result.first_node.index + at};
    map_facts(result.facts[at], *module.tree, node, map);
    module.facts[node.index] = std::move(result.facts[at]);
  }
  for (Contract& contract : result.contracts) contract.result = map.local(contract.result);
  function.contracts = std::move(result.contracts);
  function.strategy = result.strategy;
  function.has_faulty_strategy = result.has_faulty_strategy;
  function.is_completed = result.is_completed;
  for (auto& [node, pursuit] : result.pursuits) {
    pursuit.type = import(pursuit.type);
    module.pursuits[node] = std::move(pursuit);
  }
  for (const auto& [node, strategy] : result.strategies) module.strategies.emplace(node, strategy);
  strategic_calls_.insert(strategic_calls_.end(), result.strategic_calls.begin(), result.strategic_calls.end());
  contract_calls_.insert(contract_calls_.end(), result.contract_calls.begin(), result.contract_calls.end());
  // A text type is reported once for each module.
  diagnostics_.append(result.diagnostics, [&](const diagnostics::Diagnostic& diagnostic) {
    return diagnostic.code != diagnostics::TextType.code ||
           text_types_.emplace(diagnostic.span.file.index, diagnostic.message).second;
  });
  merged.diagnostics = std::move(result.diagnostics);
  merged.strategic_calls = std::move(result.strategic_calls);
  merged.contract_calls = std::move(result.contract_calls);
  return merged;
}

void BodyMerger::finish() {
  for (const StrategicCall& call : strategic_calls_) {
    const FunctionDeclaration& callee = program_.functions[call.callee.index];
    report_unfit_strategy(program_.modules[call.module.index].tree->span(call.clause), callee.name, callee.is_completed,
                          callee.contracts, call.strategy, diagnostics_);
  }
  check_contract_calls();
  program_.tool_result = program_.types.find_tool_result();
}

/// A contract must not have effects, and so must not what it calls.
void BodyMerger::check_contract_calls() {
  std::vector<FunctionId> called;
  for (const ContractCall& call : contract_calls_) called.push_back(call.callee);
  const Purity purity(program_, called);
  for (const ContractCall& call : contract_calls_) {
    const auto effect = purity.effect_of(call.callee);
    if (!effect) continue;
    diagnostics_
        .report(diagnostics::ContractSideEffect, program_.modules[call.module.index].tree->span(call.node),
                fmt::format("a call of `{}` (which leads to {})", program_.functions[call.callee.index].name, *effect))
        .hint("write conditions for a model to judge as text: `ensures \"is polite\"`");
  }
}

}  // namespace tenon::types
