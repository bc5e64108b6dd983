#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "diagnostics/diagnostic.h"
#include "types/checked_program.h"

namespace tenon::types {

/// A call of a function with a strategy. Whether the strategy fits is known when the callee's body has been checked.
struct StrategicCall {
  ModuleId module;
  syntax::NodeId clause;
  FunctionId callee;
  Strategy strategy;
};

/// A call of a function within a contract, which must not have effects. Its callee's body decides that.
struct ContractCall {
  ModuleId module;
  syntax::NodeId node;
  FunctionId callee;
};

/// What the check of one body has determined. Its LocalIds count from 0, and its own types are in its own table: it is
/// independent of the results for other bodies.
struct BodyResult {
  explicit BodyResult(TypeTable table, std::size_t diagnostics_room)
      : types(std::move(table)), diagnostics(diagnostics_room) {}

  TypeTable types;               ///< extends the table of the declarations
  syntax::NodeId first_node;     ///< of the body; its nodes have consecutive ids
  std::vector<NodeFacts> facts;  ///< by node, from `first_node` on
  std::vector<Local> locals;
  std::vector<Contract> contracts;
  Strategy strategy;
  bool has_faulty_strategy = false;
  bool is_completed = false;
  std::unordered_map<std::uint32_t, Pursuit> pursuits;     ///< by the node of the `pursue`
  std::unordered_map<std::uint32_t, Strategy> strategies;  ///< by the node of the `strategy(…)` after a call
  std::vector<StrategicCall> strategic_calls;
  std::vector<ContractCall> contract_calls;
  diagnostics::Diagnostics diagnostics;
};

}  // namespace tenon::types
