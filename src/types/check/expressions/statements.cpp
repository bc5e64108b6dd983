// Blocks and statements.

#include "types/check/expressions/statements.h"

#include <algorithm>

#include "diagnostics/kinds.h"
#include "syntax/literals.h"
#include "types/check/body_checker.h"

namespace tenon::types {
namespace {

/// Whether `node` contains a `break` of the loop around it.
bool has_break(const syntax::SyntaxTree& tree, syntax::NodeId node) {
  const syntax::NodeKind kind = tree.kind(node);
  if (kind == syntax::NodeKind::BreakExpression) return true;
  if (kind == syntax::NodeKind::WhileStatement || kind == syntax::NodeKind::ForExpression ||
      kind == syntax::NodeKind::ClosureExpression) {
    return false;
  }
  for (syntax::NodeId child = tree.first(node); child.exists(); child = tree.next(child)) {
    if (has_break(tree, child)) return true;
  }
  return false;
}

/// `while true { … }` that only `return`, a failure or a spent budget ends.
bool is_infinite_loop(const syntax::SyntaxTree& tree, syntax::NodeId statement) {
  if (tree.kind(statement) != syntax::NodeKind::WhileStatement) return false;
  const syntax::NodeId condition = tree.first(statement);
  const syntax::NodeId body = condition.exists() ? tree.next(condition) : syntax::NodeId{};
  return body.exists() && tree.kind(condition) == syntax::NodeKind::BooleanExpression &&
         tree.text(condition) == "true" && !has_break(tree, body);
}

}  // namespace

TypeId StatementChecker::check_block(NodeId block, Expectation expected) {
  const Scope scope(body_);
  const TypeId type = check_statements(block, expected);
  record(block, type);
  return type;
}

TypeId StatementChecker::check_statements(NodeId block, Expectation expected) {
  TypeId type = TypeTable::unit;
  bool is_reported = false;
  // A function inside of a body has been rejected by the parser; its uses are not reported as well.
  for (const NodeId function : tree().children(block, NodeKind::FunctionItem)) {
    declare_local(tree().main_text(function), TypeTable::error, tree().main_span(function));
  }
  for (NodeId statement = tree().first(block); statement.exists(); statement = tree().next(statement)) {
    const NodeKind kind = tree().kind(statement);
    if (kind == NodeKind::ScriptSection) continue;
    if (type == TypeTable::never && !is_reported) {
      is_reported = true;
      const source::Span span = tree().span(statement);
      diagnostics_.report(diagnostics::UnreachableCode, span);
      body_.reported.unreachable.push_back({span.file, span.offset, tree().span(block).end() - span.offset});
    }
    const bool diverged = type == TypeTable::never;
    const bool last = !tree().next(statement).exists();
    if (last && kind == NodeKind::ExpressionStatement && !tree().ends_with_semicolon(statement)) {
      type = check_tail(statement, expected);
    } else {
      type = check_statement(statement);
      if (last && kind == NodeKind::ExpressionStatement && expected.kind == Expectation::Kind::Body &&
          type != TypeTable::never) {
        const TypeId dropped = facts(tree().first(statement)).type;
        if (dropped != TypeTable::unit && dropped != TypeTable::error && body_.function.own_context) {
          auto& report = diagnostics_.report(diagnostics::UnusedValue, tree().span(statement), describe(dropped),
                                             body_.function.name);
          report.hint("remove the `;` to return the value without asking the model");
        }
      }
    }
    if (diverged) type = TypeTable::never;
  }
  return type;
}

TypeId StatementChecker::check_tail(NodeId statement, Expectation expected) {
  const NodeId expression = tree().first(statement);
  if (!expression.exists()) return TypeTable::error;
  const TypeId type = check_expression(expression, expected);
  record(statement, type);
  if (expected.kind == Expectation::Kind::Nothing) return type == TypeTable::never ? type : TypeTable::unit;
  return type;
}

/// Its type: `Never` if control does not continue after it, otherwise `()`.
TypeId StatementChecker::check_statement(NodeId statement) {
  TypeId type = TypeTable::unit;
  switch (tree().kind(statement)) {
    case NodeKind::LetStatement:
      check_let(statement);
      break;
    case NodeKind::AssignStatement:
      check_assignment(statement);
      break;
    case NodeKind::InjectStatement:
      check_inject(statement);
      break;
    case NodeKind::WhileStatement:
      type = check_while(statement);
      break;
    case NodeKind::AssertStatement:
      if (const NodeId condition = tree().first(statement); condition.exists()) check_condition(condition);
      break;
    case NodeKind::ExpressionStatement: {
      const NodeId expression = tree().first(statement);
      if (expression.exists() && check_expression(expression, Expectation::nothing()) == TypeTable::never)
        type = TypeTable::never;
      break;
    }
    default:
      break;  // Error, and items inside of bodies: reported by the parser
  }
  record(statement, type);
  return type;
}

void StatementChecker::check_let(NodeId statement) {
  const NodeId pattern = tree().first(statement);
  if (!pattern.exists()) return;
  NodeId value = tree().next(pattern);
  TypeId declared;
  if (value.exists() && syntax::is_type(tree().kind(value))) {
    declared = body_.resolver.resolve_type(value);
    value = tree().next(value);
  }
  TypeId type = declared;
  if (value.exists()) {
    const TypeId given = declared.exists() ? check_value(value, declared) : check_expression(value, Expectation::any());
    if (!declared.exists()) {
      type = given;
      if (type == TypeTable::unit && tree().kind(pattern) == NodeKind::NamePattern) type = TypeTable::unit;
    }
  }
  if (!type.exists()) type = TypeTable::error;
  checker_.patterns.check_pattern(pattern, type);
  if (!checker_.patterns.pattern_always_matches(pattern)) {
    diagnostics_.report(diagnostics::NotExhaustive, tree().span(pattern), std::string("other values"))
        .hint("use `if let` or `match`: a `let` pattern must match every value");
  }
}

void StatementChecker::check_assignment(NodeId statement) {
  const NodeId place = tree().first(statement);
  const NodeId value = place.exists() ? tree().next(place) : NodeId{};
  if (!value.exists()) return;
  // The place: a variable, and fields and items inside of it.
  const NodeId root = tree().root_of_place(place);
  const TypeId type = check_expression(place, Expectation::any());
  const TokenKind operation = tree().tokens[tree()[statement].main_token].kind;
  if (tree().kind(root) != NodeKind::NameExpression || facts(root).target.kind != TargetKind::Local) {
    if (type != TypeTable::error || tree().kind(root) != NodeKind::NameExpression) {
      diagnostics_.report(diagnostics::NotAssignable, tree().span(place), "this expression")
          .hint("assign to a variable, or to a field or item of a variable");
    }
  } else if (place != root && facts(place).target.kind == TargetKind::Field && facts(place).target.detail == 1) {
    diagnostics_.report(diagnostics::NotAssignable, tree().span(place), "a field after `?.`");
  } else {
    checker_.names.check_mutable_receiver(root, "");
  }
  if (operation == TokenKind::Equal) {
    check_value(value, type);
    return;
  }
  const std::string sign(tree().main_text(statement).substr(0, 1));
  const TypeId base = types_.base(type);
  const TypeId given = check_expression(value, is_number(types_, base) ? Expectation::value(base) : Expectation::any());
  if (type == TypeTable::error || given == TypeTable::error) return;
  const bool adds = operation == TokenKind::PlusEqual;
  const bool fits = (is_number(types_, base) && types_.kind(base) != TypeKind::Union) ||
                    (adds && types_.kind(base) == TypeKind::String && is_text(types_, given)) ||
                    (adds && types_.kind(base) == TypeKind::List && is_assignable(given, base)) ||
                    (adds && types_.kind(base) == TypeKind::Tools && given == base);
  if (!fits) {
    auto& report = diagnostics_.report(diagnostics::OperatorTypes, tree().main_span(statement), sign + "=",
                                       describe(type), describe(given));
    const bool is_held = !handling_hint(types_.kind(base)).empty();
    checker_.assignability.hint_handling(report, is_held ? base : given);
  } else if (types_.kind(type) == TypeKind::Refined) {
    facts(statement).narrowed_to = type;
  }
  record(statement, base);
}

void StatementChecker::check_inject(NodeId statement) {
  const NodeId value = tree().first(statement);
  if (!value.exists()) return;
  checker_.names.require_own_context(statement, "!");
  // What a block injects is the text of one of its options.
  if (!tree().is_written(tree().next_significant(tree()[value].end_token - 1))) {
    check_value(value, TypeTable::string);
    return;
  }
  const TypeId type = check_expression(value, Expectation::any());
  if (type == TypeTable::unit) {
    diagnostics_.report(diagnostics::ValueExpected, tree().span(value)).hint("inject a value");
  }
  checker_.assignability.reject_secret(type, value, "injected");
  body_.resolver.reject_tools(type, value, "injected");
}

TypeId StatementChecker::check_while(NodeId statement) {
  const Scope scope(body_);
  const NodeId condition = tree().first(statement);
  if (!condition.exists()) return TypeTable::unit;
  check_condition(condition);
  if (const NodeId body = tree().next(condition); body.exists()) {
    ++body_.depth.loops;
    check_block(body, Expectation::nothing());
    --body_.depth.loops;
  }
  return is_infinite_loop(tree(), statement) ? TypeTable::never : TypeTable::unit;
}

/// Of `if`, `while` and guards. The names that `let` binds live in the caller's scope.
void StatementChecker::check_condition(NodeId condition) {
  if (tree().kind(condition) == NodeKind::LetCondition) {
    const NodeId pattern = tree().first(condition);
    const NodeId value = pattern.exists() ? tree().next(pattern) : NodeId{};
    if (!value.exists()) return;
    checker_.patterns.check_pattern(pattern, check_expression(value, Expectation::any()));
    return;
  }
  const TypeId type = check_expression(condition, Expectation::any());
  if (type != TypeTable::error && type != TypeTable::never && types_.base(type) != TypeTable::boolean) {
    auto& report = diagnostics_.report(diagnostics::ConditionNotBoolean, tree().span(condition), describe(type));
    if (types_.kind(type) == TypeKind::Option)
      report.hint("use `.is_some()`, or bind the value with `if let Some(x) = …`");
    if (types_.kind(type) == TypeKind::Result) report.hint("use `.is_ok()`, or bind the value with `if let Ok(x) = …`");
  }
}

}  // namespace tenon::types
