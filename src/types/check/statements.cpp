// Functions, blocks and statements.

#include <algorithm>

#include "diagnostics/kinds.h"
#include "syntax/literals.h"
#include "types/check/checker.h"

namespace tenon::types {

LocalId Checker::declare_local(std::string_view name, TypeId type, source::Span span) {
  const LocalId id{static_cast<std::uint32_t>(program_.locals.size())};
  program_.locals.push_back({std::string(name), type, span, function_, false});
  scope_.emplace_back(name, id);
  return id;
}

std::optional<LocalId> Checker::find_local(std::string_view name) const {
  for (std::size_t at = scope_.size(); at-- > 0;) {
    if (scope_[at].first == name) return scope_[at].second;
  }
  return std::nullopt;
}

std::string Checker::function_name() const {
  const FunctionDeclaration& function = program_.functions[function_.index];
  return function.is_test ? "a test" : "`" + function.name + "`";
}

void Checker::check_function(FunctionId id) {
  const FunctionDeclaration& function = program_.functions[id.index];
  enter_module(function.module);
  function_ = id;
  scope_.clear();
  branch_start_ = depth_.loops = depth_.closures = depth_.guarded = depth_.finally_blocks = 0;
  in_branch_ = false;
  reported_.missing_context = false;
  reported_.unknown_names.clear();
  type_parameters_.clear();
  for (std::size_t at = 0; at < function.type_parameters.size(); ++at) {
    type_parameters_.emplace_back(function.type_parameters[at], function.type_parameter_types[at]);
  }
  self_type_ = TypeId{};
  if (!function.parameters.empty() && function.parameters[0].name == "self") self_type_ = function.parameters[0].type;
  // Parameters are the function's first locals, in order: the compiler relies on it.
  for (const Parameter& parameter : function.parameters) {
    declare_local(parameter.name.empty() ? std::string_view("\n") : std::string_view(parameter.name), parameter.type,
                  parameter.span);
  }
  const NodeId node = function.node;
  if (function.role == FunctionRole::AgentRun || function.role == FunctionRole::TakeOver) return;
  if (function.role == FunctionRole::InitialState) {
    const FunctionDeclaration copy = function;
    return check_initial_state(copy);
  }
  if (function.agent.exists()) {
    const AgentDeclaration& agent = program_.agents[function.agent.index];
    const LocalId state = declare_local("state", agent.state, tree().main_span(agent.node));
    program_.locals[state.index].is_agent_state = true;
  }
  const std::vector<NodeId> budgets = tree().children(node, NodeKind::BudgetClause);
  for (const NodeId clause : budgets) check_budget_clause(clause);
  if (budgets.size() > 1) {
    diagnostics_.report(diagnostics::SecondBudget, tree().span(budgets[1]))
        .hint("put all limits of the function into one `budget(…)`");
  }
  check_contracts(id);
  const NodeId body = tree().find_child(node, NodeKind::Block);
  if (!body.exists()) return;
  if (function.is_test) {
    for (const NodeId section : tree().children(body, NodeKind::ScriptSection)) check_test_script(section, id);
  }
  const TypeId result = function.result;
  const bool wants_value = result != TypeTable::unit && result != TypeTable::error;
  const std::size_t errors = diagnostics_.error_count();
  const TypeId type = check_block(body, wants_value ? Wanted::body(result) : Wanted::nothing());
  FunctionDeclaration& checked = program_.functions[id.index];
  if (wants_value && type == TypeTable::unit) {
    if (checked.own_context) {
      checked.is_completed = true;
      if (!is_answerable(result)) {
        diagnostics_.report(diagnostics::AnswerTypeNotSupported, tree().main_span(node), checked.name,
                            describe(result));
      }
    } else {
      diagnostics_.report(diagnostics::MissingReturnValue, tree().main_span(node), checked.name, describe(result))
          .hint("end the body with a value, or add a `Context` parameter so that the model completes the function");
    }
  }
  if (const NodeId clause = tree().find_child(node, NodeKind::StrategyClause); clause.exists()) {
    if (!checked.has_faulty_strategy) check_strategy_fits(clause, checked, checked.strategy);
  }
  // What an agent's instructions inject is seen in its turns.
  if (errors == diagnostics_.error_count() && checked.role == FunctionRole::Written) lint_function(checked);
}

TypeId Checker::check_block(NodeId block, Wanted wanted) {
  const Scope scope(*this);
  const TypeId type = check_statements(block, wanted);
  record(block, type);
  return type;
}

TypeId Checker::check_statements(NodeId block, Wanted wanted) {
  TypeId type = TypeTable::unit;
  bool told_unreachable = false;
  // A function inside of a body has been refused by the parser; its uses are not told as well.
  for (const NodeId function : tree().children(block, NodeKind::FunctionItem)) {
    declare_local(tree().main_text(function), TypeTable::error, tree().main_span(function));
  }
  for (NodeId statement = tree().first(block); statement.exists(); statement = tree().next(statement)) {
    const NodeKind kind = tree().kind(statement);
    if (kind == NodeKind::ScriptSection) continue;
    if (type == TypeTable::never && !told_unreachable) {
      told_unreachable = true;
      const source::Span span = tree().span(statement);
      diagnostics_.report(diagnostics::UnreachableCode, span);
      unreachable_.push_back({span.file, span.offset, tree().span(block).end() - span.offset});
    }
    const bool diverged = type == TypeTable::never;
    const bool last = !tree().next(statement).exists();
    if (last && kind == NodeKind::ExpressionStatement && !tree().ends_with_semicolon(statement)) {
      type = check_tail(statement, wanted);
    } else {
      type = check_statement(statement);
      if (last && kind == NodeKind::ExpressionStatement && wanted.kind == Wanted::Kind::Body &&
          type != TypeTable::never) {
        const TypeId dropped = facts(tree().first(statement)).type;
        if (dropped != TypeTable::unit && dropped != TypeTable::error) {
          auto& report = diagnostics_.report(diagnostics::UnusedValue, tree().span(statement), describe(dropped),
                                             program_.functions[function_.index].name);
          report.hint("remove the `;` to return the value without asking the model");
        }
      }
    }
    if (diverged) type = TypeTable::never;
  }
  return type;
}

TypeId Checker::check_tail(NodeId statement, Wanted wanted) {
  const NodeId expression = tree().first(statement);
  if (!expression.exists()) return TypeTable::error;
  const TypeId type = check_expression(expression, wanted);
  record(statement, type);
  if (wanted.kind == Wanted::Kind::Nothing) return type == TypeTable::never ? type : TypeTable::unit;
  return type;
}

/// Its type: `Never` when control does not go on behind it, else `()`.
TypeId Checker::check_statement(NodeId statement) {
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
      if (expression.exists() && check_expression(expression, Wanted::nothing()) == TypeTable::never)
        type = TypeTable::never;
      break;
    }
    default:
      break;  // Error, and items inside of bodies: told by the parser
  }
  record(statement, type);
  return type;
}

void Checker::check_let(NodeId statement) {
  const NodeId pattern = tree().first(statement);
  if (!pattern.exists()) return;
  NodeId value = tree().next(pattern);
  TypeId declared;
  if (value.exists() && syntax::is_type(tree().kind(value))) {
    declared = resolve_type(value);
    value = tree().next(value);
  }
  TypeId type = declared;
  if (value.exists()) {
    const TypeId given = declared.exists() ? check_value(value, declared) : check_expression(value, Wanted::any());
    if (!declared.exists()) {
      type = given;
      if (type == TypeTable::unit && tree().kind(pattern) == NodeKind::NamePattern) type = TypeTable::unit;
    }
  }
  if (!type.exists()) type = TypeTable::error;
  check_pattern(pattern, type);
  if (!pattern_always_matches(pattern)) {
    diagnostics_.report(diagnostics::NotExhaustive, tree().span(pattern), std::string("other values"))
        .hint("use `if let` or `match`: a `let` pattern must match every value");
  }
}

void Checker::check_assignment(NodeId statement) {
  const NodeId place = tree().first(statement);
  const NodeId value = place.exists() ? tree().next(place) : NodeId{};
  if (!value.exists()) return;
  // The place: a variable, and fields and items inside of it.
  const NodeId root = tree().root_of_place(place);
  const TypeId type = check_expression(place, Wanted::any());
  const TokenKind operation = tree().tokens[tree()[statement].main_token].kind;
  if (tree().kind(root) != NodeKind::NameExpression || facts(root).target.kind != TargetKind::Local) {
    if (type != TypeTable::error || tree().kind(root) != NodeKind::NameExpression) {
      diagnostics_.report(diagnostics::NotAssignable, tree().span(place), "this expression")
          .hint("assign to a variable, or to a field or item of a variable");
    }
  } else if (place != root && facts(place).target.kind == TargetKind::Field && facts(place).target.detail == 1) {
    diagnostics_.report(diagnostics::NotAssignable, tree().span(place), "a field after `?.`");
  } else {
    check_mutable_receiver(root, "");
  }
  if (operation == TokenKind::Equal) {
    check_value(value, type);
    return;
  }
  const std::string sign(tree().main_text(statement).substr(0, 1));
  const TypeId base = types_.base(type);
  const TypeId given = check_expression(value, is_number(base) ? Wanted::value(base) : Wanted::any());
  if (type == TypeTable::error || given == TypeTable::error) return;
  const bool adds = operation == TokenKind::PlusEqual;
  const bool fits = (is_number(base) && types_.kind(base) != TypeKind::Union) ||
                    (adds && types_.kind(base) == TypeKind::String && is_text(given)) ||
                    (adds && types_.kind(base) == TypeKind::List && is_assignable(given, base)) ||
                    (adds && types_.kind(base) == TypeKind::Tools && given == base);
  if (!fits) {
    diagnostics_.report(diagnostics::OperatorTypes, tree().main_span(statement), sign + "=", describe(type),
                        describe(given));
  } else if (types_.kind(type) == TypeKind::Refined) {
    facts(statement).narrowed_to = type;
  }
  record(statement, base);
}

void Checker::require_own_context(NodeId node, std::string_view what) {
  const FunctionDeclaration& function = program_.functions[function_.index];
  if (function.own_context || reported_.missing_context) return;
  const std::string_view hint =
      function.is_test ? "call a function with a context: `f(Context::new())`" : "add a parameter `ctx: Context`";
  if (what == "select") {
    diagnostics_.report(diagnostics::SelectWithoutContext, tree().main_span(node), function_name())
        .hint(std::string(hint));
  } else if (what == "pursue") {
    diagnostics_.report(diagnostics::PursueWithoutContext, tree().main_span(node), function_name())
        .hint(std::string(hint));
  } else if (what == "_") {
    diagnostics_.report(diagnostics::HoleWithoutContext, tree().span(node), function_name()).hint(std::string(hint));
  } else {
    diagnostics_.report(diagnostics::InjectWithoutContext, tree().span(node), function_name()).hint(std::string(hint));
  }
}

void Checker::check_inject(NodeId statement) {
  const NodeId value = tree().first(statement);
  if (!value.exists()) return;
  require_own_context(statement, "!");
  const TypeId type = check_expression(value, Wanted::any());
  if (type == TypeTable::unit) {
    diagnostics_.report(diagnostics::ValueExpected, tree().span(value)).hint("inject a value");
  }
  refuse_secret(type, value, "injected");
  refuse_tools(type, value, "injected");
}

namespace {

/// Whether a `break` of the loop around stands in what `node` holds.
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
bool is_endless_loop(const syntax::SyntaxTree& tree, syntax::NodeId statement) {
  if (tree.kind(statement) != syntax::NodeKind::WhileStatement) return false;
  const syntax::NodeId condition = tree.first(statement);
  const syntax::NodeId body = condition.exists() ? tree.next(condition) : syntax::NodeId{};
  return body.exists() && tree.kind(condition) == syntax::NodeKind::BooleanExpression &&
         tree.text(condition) == "true" && !has_break(tree, body);
}

}  // namespace

TypeId Checker::check_while(NodeId statement) {
  const Scope scope(*this);
  const NodeId condition = tree().first(statement);
  if (!condition.exists()) return TypeTable::unit;
  check_condition(condition);
  if (const NodeId body = tree().next(condition); body.exists()) {
    ++depth_.loops;
    check_block(body, Wanted::nothing());
    --depth_.loops;
  }
  return is_endless_loop(tree(), statement) ? TypeTable::never : TypeTable::unit;
}

/// Of `if`, `while` and guards. The names that `let` binds live in the caller's scope.
void Checker::check_condition(NodeId condition) {
  if (tree().kind(condition) == NodeKind::LetCondition) {
    const NodeId pattern = tree().first(condition);
    const NodeId value = pattern.exists() ? tree().next(pattern) : NodeId{};
    if (!value.exists()) return;
    check_pattern(pattern, check_expression(value, Wanted::any()));
    return;
  }
  const TypeId type = check_expression(condition, Wanted::any());
  if (type != TypeTable::error && type != TypeTable::never && types_.base(type) != TypeTable::boolean) {
    auto& report = diagnostics_.report(diagnostics::ConditionNotBoolean, tree().span(condition), describe(type));
    if (types_.kind(type) == TypeKind::Option)
      report.hint("use `.is_some()`, or bind the value with `if let Some(x) = …`");
  }
}

}  // namespace tenon::types
