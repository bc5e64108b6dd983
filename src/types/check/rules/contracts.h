#pragma once

#include <optional>
#include <span>
#include <string>

#include "types/check/bodies/body_part.h"

namespace tenon::types {

/// Checks the contracts of a function, and strategies.
class ContractChecker : public BodyPart {
 public:
  using BodyPart::BodyPart;

  void check_contracts();
  TypeId check_strategy(NodeId node, Expectation expected);
  void check_call_strategy(NodeId node, NodeId clause, const Target& target);

 private:
  void reject_shadowed_result(const Contract& contract);
  void check_contract_expression(NodeId node);
  std::optional<Strategy> read_strategy(NodeId clause);
};

/// Reports a strategy for a function that no model completes, or without the contracts that it needs. `span`: of the
/// strategy; the other arguments describe the function, whose body has been checked.
void report_unfit_strategy(source::Span span, const std::string& callee, bool is_completed,
                           std::span<const Contract> contracts, const Strategy& strategy,
                           diagnostics::Diagnostics& diagnostics);

}  // namespace tenon::types
