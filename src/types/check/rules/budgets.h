#pragma once

#include "types/check/bodies/body_part.h"

namespace tenon::types {

/// Checks budgets.
class BudgetChecker : public BodyPart {
 public:
  using BodyPart::BodyPart;

  TypeId check_budget(NodeId node, Expectation expected);
  void check_budget_clause(NodeId clause);
};

}  // namespace tenon::types
