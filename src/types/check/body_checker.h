#pragma once

#include "types/check/bodies/body.h"
#include "types/check/expressions/assignability.h"
#include "types/check/expressions/branches.h"
#include "types/check/expressions/calls.h"
#include "types/check/expressions/expressions.h"
#include "types/check/expressions/methods.h"
#include "types/check/expressions/names.h"
#include "types/check/expressions/operators.h"
#include "types/check/expressions/patterns.h"
#include "types/check/expressions/pursue.h"
#include "types/check/expressions/statements.h"
#include "types/check/expressions/templates.h"
#include "types/check/expressions/tools.h"
#include "types/check/rules/budgets.h"
#include "types/check/rules/contracts.h"
#include "types/check/rules/lints.h"
#include "types/check/rules/scripts.h"

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
