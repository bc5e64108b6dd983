// `budget(…)` after a call and in a function's head.

#include "types/check/rules/budgets.h"

#include <algorithm>
#include <set>

#include "diagnostics/kinds.h"
#include "syntax/limited_call.h"
#include "syntax/literals.h"
#include "types/check/body_checker.h"

namespace tenon::types {
namespace {

constexpr std::string_view budget_names[] = {"calls", "tokens", "instructions", "depth", "time", "bits"};

}  // namespace

TypeId BudgetChecker::check_budget(NodeId node, Expectation expected) {
  const NodeId call = tree().first(node);
  if (!call.exists()) return TypeTable::error;
  const syntax::LimitedCall inner = syntax::read_limited_call(tree(), call);
  if (const NodeId clause = tree().find_child(node, NodeKind::BudgetClause); clause.exists()) {
    check_budget_clause(clause);
    if (inner.budget.exists()) {
      diagnostics_.report(diagnostics::SecondBudget, tree().span(clause))
          .hint("put all limits of the call into one `budget(…)`");
    }
  }
  const TypeId type = check_kind(call, expected);
  record(call, type);
  const TargetKind target = facts(inner.call).target.kind;
  if (target != TargetKind::Function && target != TargetKind::Extern && type != TypeTable::error) {
    diagnostics_.report(diagnostics::BudgetWithoutCall, tree().span(node));
  }
  return type;
}

void BudgetChecker::check_budget_clause(NodeId clause) {
  std::set<std::string> seen;
  for (const NodeId argument : tree().children(clause, NodeKind::NamedArgument)) {
    const std::string name(tree().main_text(argument));
    if (name == "cost") {
      diagnostics_.report(diagnostics::CostBudget, tree().main_span(argument))
          .hint("limit `calls` or `tokens` instead");
      continue;
    }
    if (std::find(std::begin(budget_names), std::end(budget_names), name) == std::end(budget_names)) {
      diagnostics_.report(diagnostics::UnknownBudget, tree().main_span(argument), name)
          .hint("use one of `calls`, `tokens`, `instructions`, `depth`, `time` and `bits`");
      continue;
    }
    if (!seen.insert(name).second) diagnostics_.report(diagnostics::SpecifiedTwice, tree().main_span(argument), name);
    const NodeId value = tree().first(argument);
    if (!value.exists()) continue;
    if (tree().kind(value) != NodeKind::IntegerExpression) {
      diagnostics_.report(diagnostics::BudgetNotConstant, tree().span(value));
      continue;
    }
    if (!syntax::integer_value(tree().text(value))) {
      diagnostics_.report(diagnostics::NumberOutOfRange, tree().span(value), std::string(tree().text(value)), "i64");
    }
    const std::string_view unit = tree().text(tree()[argument].end_token - 1);
    const bool has_unit = tree()[argument].end_token - 1 > tree()[value].first_token;
    const bool known_unit = syntax::unit_milliseconds(unit).has_value();
    if (name == "time" && (!has_unit || !known_unit)) {
      diagnostics_.report(diagnostics::MissingTimeUnit, tree().span(argument)).hint("write for example `time: 30s`");
    }
    if (name != "time" && has_unit) diagnostics_.report(diagnostics::UnitNotAllowed, tree().span(argument), name);
  }
}

}  // namespace tenon::types
