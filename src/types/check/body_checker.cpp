#include "types/check/body_checker.h"

#include <utility>

#include "diagnostics/kinds.h"

namespace tenon::types {

using syntax::NodeId;
using syntax::NodeKind;

namespace {

/// Whether an expression that has no value is to blame for that itself, and not a block in it.
bool is_single_value(NodeKind kind) {
  return kind == NodeKind::NameExpression || kind == NodeKind::CallExpression ||
         kind == NodeKind::MethodCallExpression || kind == NodeKind::FieldExpression ||
         kind == NodeKind::IndexExpression || kind == NodeKind::ParenthesizedExpression;
}

NodeKind last_kind(const syntax::SyntaxTree& tree, NodeId block) {
  NodeKind kind = NodeKind::Error;
  for (const NodeId statement : tree.children(block)) kind = tree.kind(statement);
  return kind;
}

}  // namespace

BodyPart::BodyPart(BodyChecker& checker)
    : checker_(checker),
      body_(checker.body),
      program_(checker.body.program),
      module_(&checker.body.module),
      types_(checker.body.result.types),
      diagnostics_(checker.body.result.diagnostics) {}

TypeId BodyPart::check_expression(NodeId node, Expectation expected) {
  return checker_.expressions.check_expression(node, expected);
}
TypeId BodyPart::check_kind(NodeId node, Expectation expected) {
  return checker_.expressions.check_kind(node, expected);
}
TypeId BodyPart::check_value(NodeId node, TypeId type) {
  return checker_.expressions.check_value(node, type);
}
bool BodyPart::coerce(NodeId node, TypeId from, TypeId to) {
  return checker_.assignability.coerce(node, from, to);
}
bool BodyPart::is_assignable(TypeId from, TypeId to) const {
  return checker_.assignability.is_assignable(from, to);
}
bool BodyPart::is_answerable(TypeId type, Answerer answerer) const {
  return checker_.assignability.is_answerable(type, answerer);
}

void BodyChecker::run() {
  const FunctionDeclaration& function = body.function;
  const syntax::SyntaxTree& tree = body.tree();
  diagnostics::Diagnostics& diagnostics = body.result.diagnostics;
  // Parameters are the function's first locals, in order: the compiler relies on it.
  for (const Parameter& parameter : function.parameters) {
    body.declare_local(parameter.name.empty() ? std::string_view("\n") : std::string_view(parameter.name),
                       parameter.type, parameter.span);
  }
  if (function.role == FunctionRole::AgentRun || function.role == FunctionRole::TakeOver) return;
  if (function.role == FunctionRole::InitialState) return check_initial_state();
  if (function.agent.exists()) {
    const AgentDeclaration& agent = body.program.agents[function.agent.index];
    const LocalId state = body.declare_local("state", agent.state, tree.main_span(agent.node));
    body.local(state).is_agent_state = true;
  }
  const std::vector<NodeId> clauses = tree.children(function.node, NodeKind::BudgetClause);
  for (const NodeId clause : clauses) budgets.check_budget_clause(clause);
  if (clauses.size() > 1) {
    diagnostics.report(diagnostics::SecondBudget, tree.span(clauses[1]))
        .hint("put all limits of the function into one `budget(…)`");
  }
  contracts.check_contracts();
  const NodeId block = tree.find_child(function.node, NodeKind::Block);
  if (!block.exists()) return;
  if (function.is_test) {
    for (const NodeId section : tree.children(block, NodeKind::ScriptSection)) scripts.check_test_script(section);
  }
  const TypeId result = function.result;
  const bool has_result = result != TypeTable::unit && result != TypeTable::error;
  const std::size_t errors = diagnostics.error_count();
  const TypeId type = statements.check_block(block, has_result ? Expectation::body(result) : Expectation::nothing());
  // An assignment that was refused may be meant as the value: `x = 1` for `x == 1`.
  const bool is_refused = errors != diagnostics.error_count() && last_kind(tree, block) == NodeKind::AssignStatement;
  if (has_result && type == TypeTable::unit && !is_refused) check_missing_value();
  if (const NodeId clause = tree.find_child(function.node, NodeKind::StrategyClause); clause.exists()) {
    if (!body.result.has_faulty_strategy) {
      report_unfit_strategy(tree.span(clause), function.name, body.result.is_completed, body.result.contracts,
                            body.result.strategy, diagnostics);
    }
  }
  // What an agent's instructions inject is seen in its turns. A type with an error may be completed by a model.
  if (errors != diagnostics.error_count()) return;
  if (function.role == FunctionRole::Instructions) lints.lint_texts();
  if (function.role == FunctionRole::Written && result != TypeTable::error) lints.lint_function();
}

/// The last statement of the body, if it is an expression.
NodeId BodyChecker::last_expression() const {
  const syntax::SyntaxTree& tree = body.tree();
  NodeId last;
  for (const NodeId statement : tree.children(tree.find_child(body.function.node, NodeKind::Block))) last = statement;
  const bool is_expression =
      last.exists() && tree.kind(last) == NodeKind::ExpressionStatement && tree.first(last).exists();
  return is_expression ? last : NodeId{};
}

/// The body has ended without the value that the function returns.
void BodyChecker::check_missing_value() {
  const FunctionDeclaration& function = body.function;
  const source::Span span = body.tree().main_span(function.node);
  const std::string type = body.describe(function.result);
  diagnostics::Diagnostics& diagnostics = body.result.diagnostics;
  if (!function.own_context) {
    if (body.reported.missing_context) return;  // with it, a model completes the function
    const NodeId last = last_expression();
    const bool is_dropped = last.exists() && body.tree().ends_with_semicolon(last);
    const TypeId given = last.exists() ? body.facts(body.tree().first(last)).type : TypeTable::unit;
    if (last.exists() && !is_dropped && is_single_value(body.tree().kind(body.tree().first(last)))) {
      assignability.coerce(body.tree().first(last), TypeTable::unit, function.result);
      return;
    }
    const bool fits = is_dropped && given.exists() && assignability.is_assignable(given, function.result);
    diagnostics.report(diagnostics::MissingReturnValue, span, function.name, type)
        .hint(fits
                  ? "remove the `;` after the last expression to return its value"
                  : "end the body with a value, or add a `Context` parameter so that the model completes the function");
    return;
  }
  body.result.is_completed = true;
  if (!assignability.is_answerable(function.result)) {
    diagnostics.report(diagnostics::AnswerTypeNotSupported, span, function.name, type);
  }
}

void BodyChecker::check_initial_state() {
  const syntax::SyntaxTree& tree = body.tree();
  const NodeId section = tree.find_child(body.function.node, NodeKind::StateSection);
  if (!section.exists()) return;
  const std::vector<Field> fields = body.result.types.struct_type(body.function.result).fields;
  std::size_t at = 0;
  for (const NodeId field : tree.children(section, NodeKind::StateField)) {
    if (at == fields.size() || fields[at].name != tree.main_text(field)) continue;  // declared twice
    const TypeId type = fields[at++].type;
    const NodeId type_node = tree.first(field);
    const NodeId value = type_node.exists() ? tree.next(type_node) : NodeId{};
    if (value.exists()) expressions.check_value(value, type);
  }
}

BodyResult check_body(const ProgramIndex& index, FunctionId function, std::size_t room) {
  BodyResult result(TypeTable(index.program().types, index.types()), room);
  BodyChecker(index, function, result).run();
  return result;
}

}  // namespace tenon::types
