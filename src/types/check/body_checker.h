#pragma once

#include "types/check/assignability.h"
#include "types/check/body.h"
#include "types/check/branches.h"
#include "types/check/budgets.h"
#include "types/check/calls.h"
#include "types/check/contracts.h"
#include "types/check/expressions.h"
#include "types/check/lints.h"
#include "types/check/methods.h"
#include "types/check/names.h"
#include "types/check/operators.h"
#include "types/check/patterns.h"
#include "types/check/pursue.h"
#include "types/check/scripts.h"
#include "types/check/statements.h"
#include "types/check/templates.h"
#include "types/check/tools.h"

namespace tenon::types {

/// Checks the body of one function, with the clauses of its head, from the program's index alone.
class BodyChecker {
 public:
  BodyChecker(const ProgramIndex& index, FunctionId function, BodyResult& result) : body(index, function, result) {}
  BodyChecker(const BodyChecker&) = delete;
  BodyChecker& operator=(const BodyChecker&) = delete;

  void run();

  Body body;
  Assignability assignability{*this};
  BranchChecker branches{*this};
  BudgetChecker budgets{*this};
  CallChecker calls{*this};
  ContractChecker contracts{*this};
  ExpressionChecker expressions{*this};
  Lints lints{*this};
  MethodChecker methods{*this};
  BodyNames names{*this};
  OperatorChecker operators{*this};
  PatternChecker patterns{*this};
  PursueChecker pursuits{*this};
  ScriptChecker scripts{*this};
  StatementChecker statements{*this};
  TemplateChecker templates{*this};
  ToolChecker tools{*this};

 private:
  void check_initial_state();
  [[nodiscard]] syntax::NodeId last_expression() const;
  void check_missing_value();
};

/// `room`: how many diagnostics are kept.
[[nodiscard]] BodyResult check_body(const ProgramIndex& index, FunctionId function, std::size_t room);

}  // namespace tenon::types
