// Branches: `if`, `match`, `select`, `for`, `parallel`, `catch`, `budget`.

#include <algorithm>

#include "diagnostics/kinds.h"
#include "syntax/limited_call.h"
#include "syntax/literals.h"
#include "types/check/checker.h"
#include "types/check/names_apart.h"

namespace tenon::types {
namespace {

/// Clauses of one select: their indices and shapes have to fit into one prompt and one schema.
constexpr std::size_t select_clauses_max = 256;

constexpr std::string_view budget_names[] = {"calls", "tokens", "instructions", "depth", "time"};

}  // namespace

void Checker::join_branch(NodeId branch, TypeId type, Wanted wanted, std::optional<TypeId>& joined) {
  if (type == TypeTable::never || type == TypeTable::error) {
    if (!joined) joined = type;
    return;
  }
  if (wanted.kind == Wanted::Kind::Nothing) {
    joined = TypeTable::unit;
    return;
  }
  if (!joined || *joined == TypeTable::never || *joined == TypeTable::error) {
    joined = type;
    return;
  }
  if (wanted.has_type() && (type == TypeTable::unit) == (*joined == TypeTable::unit)) {
    joined = type == TypeTable::unit ? type : wanted.type;  // each branch was held against what is wanted
    return;
  }
  if (const auto common = common_type(*joined, type)) {
    joined = common;
    return;
  }
  const auto [here, before] = describe_apart(program_, type, *joined);
  diagnostics_.report(diagnostics::BranchesDiffer, tree().span(branch), here, before);
}

/// What stands behind `=>`: a block, an expression, an injection.
TypeId Checker::check_body(NodeId node, Wanted wanted) {
  if (tree().kind(node) != NodeKind::InjectBody) return check_expression(node, wanted);
  check_inject(node);
  record(node, TypeTable::unit);
  return TypeTable::unit;
}

/// The block of an `if` without `else`. In the other case there is no value, so where one is used the block gives none
/// either; as a statement it may give one, which is dropped.
TypeId Checker::check_if_alone(NodeId node, NodeId body, Wanted wanted) {
  const bool is_dropped = wanted.kind == Wanted::Kind::Nothing;
  const TypeId type = check_expression(body, is_dropped ? wanted : Wanted::any());
  if (is_dropped || type == TypeTable::unit || type == TypeTable::never) return TypeTable::unit;
  if (type != TypeTable::error) {
    diagnostics_.report(diagnostics::MissingElse, tree().main_span(node), describe(type))
        .hint("add an `else` branch, or discard the value with `;`");
  }
  return TypeTable::error;
}

TypeId Checker::check_if(NodeId node, Wanted wanted) {
  const NodeId condition = tree().first(node);
  if (!condition.exists()) return TypeTable::error;
  const NodeId body = tree().next(condition);
  std::optional<TypeId> joined;
  {
    const Scope scope(*this);
    check_condition(condition);
    if (!body.exists()) return TypeTable::error;
    const NodeId otherwise = tree().next(body);
    if (!otherwise.exists()) return check_if_alone(node, body, wanted);
    const TypeId type = check_expression(body, wanted);
    join_branch(body, type, wanted, joined);
  }
  const NodeId otherwise = tree().next(body);
  join_branch(otherwise, check_expression(otherwise, wanted), wanted, joined);
  return *joined;
}

TypeId Checker::check_match(NodeId node, Wanted wanted) {
  const NodeId value = tree().first(node);
  if (!value.exists()) return TypeTable::error;
  const TypeId type = check_expression(value, Wanted::any());
  std::optional<TypeId> joined;
  const std::vector<NodeId> arms = tree().children(node, NodeKind::MatchArm);
  bool patterns_fit = true;
  bool is_refused = false;
  for (const NodeId arm : arms) {
    const Scope scope(*this);
    NodeId part = tree().first(arm);
    if (!part.exists()) continue;
    const std::size_t errors = diagnostics_.error_count();
    check_pattern(part, type);
    patterns_fit = patterns_fit && errors == diagnostics_.error_count();
    part = tree().next(part);
    if (part.exists() && tree().kind(part) == NodeKind::Guard) {
      if (const NodeId guard = tree().first(part); guard.exists()) check_condition(guard);
      part = tree().next(part);
    }
    if (part.exists()) {
      const std::size_t before = diagnostics_.error_count();
      const TypeId given = check_body(part, is_refused ? Wanted::any() : wanted);
      // Of arms that have another type than is wanted, the first one is reported.
      if (!is_refused) join_branch(part, given, wanted, joined);
      is_refused = is_refused ||
                   (wanted.has_type() && !is_assignable(given, wanted.type) && before != diagnostics_.error_count());
    }
  }
  const bool is_whole = !tree().find_child(node, NodeKind::Error).exists();
  if (type != TypeTable::error && patterns_fit && is_whole) check_exhaustive(node, type, arms);
  return joined.value_or(TypeTable::unit);
}

TypeId Checker::check_select(NodeId node, Wanted wanted) {
  require_own_context(node, "select");
  // One report for the `select`, none for each `_` in it.
  const bool told_before = std::exchange(reported_.missing_context, !program_.functions[function_.index].own_context);
  const std::vector<NodeId> clauses = tree().children(node, NodeKind::SelectClause);
  if (clauses.size() > select_clauses_max) {
    diagnostics_.report(diagnostics::SelectTooLarge, tree().main_span(node), select_clauses_max);
  }
  const auto has_hole = [&](NodeId call) {
    const NodeId list = tree().find_child(call, NodeKind::Arguments);
    return list.exists() && tree().find_child(list, NodeKind::HoleExpression).exists();
  };
  const auto is_spread = [&](NodeId clause) {
    return tree().first(clause).exists() && tree().kind(tree().first(clause)) == NodeKind::SpreadExpression;
  };
  if (clauses.empty() && !tree().find_child(node, NodeKind::Error).exists()) {
    diagnostics_.report(diagnostics::EmptySelect, tree().main_span(node))
        .hint("add a clause such as `reply(_) as text => text`");
  }
  if (clauses.size() == 1 && !is_spread(clauses[0])) {
    diagnostics_.report(diagnostics::SingleClauseSelect, tree().main_span(node))
        .hint("call the function directly, with `_` for the arguments that the model supplies");
  }
  std::optional<TypeId> joined;
  for (const NodeId clause : clauses) {
    const Scope scope(*this);
    NodeId part = tree().first(clause);
    if (!part.exists()) continue;
    const TokenKind main = tree().tokens[tree()[clause].main_token].kind;
    if (main != TokenKind::Else) {
      const NodeId call = syntax::read_limited_call(tree(), part).call;
      const bool spreads = is_spread(clause);
      const NodeKind kind = tree().kind(call);
      if (!spreads && kind != NodeKind::CallExpression && kind != NodeKind::MethodCallExpression &&
          kind != NodeKind::Error) {
        diagnostics_.report(diagnostics::ClauseNotCall, tree().span(call));
        if (tree()[clause].main_token >= tree()[part].end_token) {
          declare_local(tree().main_text(clause), TypeTable::error, tree().main_span(clause));
        }
        if (const NodeId body = tree().next(part); body.exists()) {
          join_branch(body, check_body(body, wanted), wanted, joined);
        }
        continue;
      }
      if (spreads && tree().first(call).exists()) check_value(tree().first(call), types_.tools());
      const TypeId result = spreads ? tool_result_type() : check_expression(part, Wanted::any());
      const TargetKind target = facts(call).target.kind;
      const bool is_call = (kind == NodeKind::CallExpression || kind == NodeKind::MethodCallExpression) &&
                           (target == TargetKind::Function || target == TargetKind::Extern);
      if (!is_call && !spreads && result != TypeTable::error) {
        diagnostics_.report(diagnostics::ClauseNotCall, tree().span(call));
      }
      if (is_call && target == TargetKind::Extern && !has_hole(call)) {
        refuse_notice(call, ExternId{facts(call).target.index});
      }
      const bool is_bound = main == TokenKind::Identifier && tree()[clause].main_token >= tree()[part].end_token;
      if (is_bound) {
        facts(clause).target = {TargetKind::Local,
                                declare_local(tree().main_text(clause), result, tree().main_span(clause)).index, 0};
      }
      part = tree().next(part);
    } else if (tree().next(clause).exists()) {
      diagnostics_.report(diagnostics::ElseNotLast, tree().main_span(clause)).hint("move it to the end");
    }
    if (part.exists()) join_branch(part, check_body(part, wanted), wanted, joined);
  }
  reported_.missing_context = told_before;
  return joined.value_or(TypeTable::unit);
}

/// What a `for` walks over: a range too, which stands nowhere else.
TypeId Checker::check_items(NodeId items) {
  walked_range_ = tree().without_parentheses(items);
  return types_.base(check_expression(items, Wanted::any()));
}

/// What `for` takes out of `items`, which has that type.
TypeId Checker::item_type(NodeId items, TypeId type) {
  switch (types_.kind(type)) {
    case TypeKind::List:
    case TypeKind::Range:
      return types_.get(type).arguments[0];
    case TypeKind::Map:
      return types_.tuple({TypeTable::string, types_.get(type).arguments[0]});
    case TypeKind::Error:
      return type;
    default: {
      auto& report = diagnostics_.report(diagnostics::NotIterable, tree().span(items), describe(type));
      if (is_text(type)) report.hint("use `.chars()` for the characters or `.lines()` for the lines");
      if (is_integer(type)) report.hint("use `0..n` to count up to n");
      return TypeTable::error;
    }
  }
}

TypeId Checker::check_for(NodeId node, Wanted wanted) {
  const NodeId pattern = tree().first(node);
  const NodeId items = pattern.exists() ? tree().next(pattern) : NodeId{};
  if (!items.exists()) return TypeTable::error;
  const TypeId type = check_items(items);
  const TypeId item = item_type(items, type);
  const NodeId clause = tree().find_child(node, NodeKind::ParallelClause);
  const NodeId body = tree().next(clause.exists() ? clause : items);
  if (!clause.exists()) {
    const Scope scope(*this);
    check_pattern(pattern, item);
    if (body.exists()) {
      ++depth_.loops;
      check_block(body, Wanted::nothing());
      --depth_.loops;
    }
    return TypeTable::unit;
  }
  if (types_.kind(type) != TypeKind::List && type != TypeTable::error) {
    diagnostics_.report(diagnostics::NotIterable, tree().span(items), describe(type))
        .hint("`parallel` loops require a `List`");
  }
  if (const NodeId limit = tree().first(clause); limit.exists()) check_value(limit, TypeTable::i32);
  const Branch branch(*this);
  const Scope scope(*this);
  check_pattern(pattern, item);
  if (!body.exists()) return TypeTable::error;
  Wanted inner = Wanted::any();
  if (wanted.kind == Wanted::Kind::Nothing) inner = Wanted::nothing();
  if (wanted.has_type() && types_.kind(wanted.type) == TypeKind::List)
    inner = Wanted::value(types_.get(wanted.type).arguments[0]);
  const TypeId result = check_block(body, inner);
  if (result == TypeTable::unit || result == TypeTable::never) return TypeTable::unit;
  if (refuse_context(result, body, "the value of a parallel branch")) return TypeTable::error;
  return result == TypeTable::error ? result : types_.list(inner.has_type() ? inner.type : result);
}

/// Branches with names give a struct with these fields, others a tuple.
TypeId Checker::check_parallel(NodeId node) {
  std::vector<Field> fields;
  std::vector<TypeId> items;
  bool named = true;
  for (const NodeId branch_node : tree().children(node, NodeKind::ParallelBranch)) {
    const NodeId value = tree().first(branch_node);
    if (!value.exists()) continue;
    const Branch branch(*this);
    const Scope scope(*this);
    TypeId type = check_expression(value, Wanted::any());
    if (refuse_context(type, value, "the value of a parallel branch")) type = TypeTable::error;
    const bool has_name = tree()[branch_node].main_token < tree()[value].first_token;
    named = named && has_name;
    items.push_back(type == TypeTable::never ? TypeTable::unit : type);
    if (!has_name) continue;
    const std::string name(tree().main_text(branch_node));
    const bool twice =
        std::any_of(fields.begin(), fields.end(), [&](const Field& field) { return field.name == name; });
    if (twice) diagnostics_.report(diagnostics::DeclaredTwice, tree().main_span(branch_node), name);
    fields.push_back({name, items.back(), ""});
  }
  if (items.empty()) return TypeTable::unit;
  const bool no_values = std::all_of(items.begin(), items.end(), [](TypeId type) { return type == TypeTable::unit; });
  if (no_values) return TypeTable::unit;
  if (named) {
    std::string name = "{";
    for (const Field& field : fields) name += (name.size() > 1 ? ", " : "") + field.name;
    return types_.add_struct({name + "}", "", std::move(fields)});
  }
  return items.size() == 1 ? items[0] : types_.tuple(std::move(items));
}

TypeId Checker::check_catch(NodeId node, Wanted wanted) {
  const NodeId value = tree().first(node);
  const NodeId handler = value.exists() ? tree().next(value) : NodeId{};
  if (!handler.exists()) return TypeTable::error;
  std::optional<TypeId> joined;
  ++depth_.guarded;
  const TypeId tried = check_expression(value, wanted);
  --depth_.guarded;
  join_branch(value, tried, wanted, joined);
  const Scope scope(*this);
  const std::string_view name = tree().main_text(node);
  if (name != "_") {
    facts(node).target = {TargetKind::Local, declare_local(name, TypeTable::failure, tree().main_span(node)).index, 0};
  }
  // What the handler gives stands for what was tried.
  const bool is_known = wanted.kind == Wanted::Kind::Any && *joined != TypeTable::never &&
                        *joined != TypeTable::error && *joined != TypeTable::unit;
  const Wanted inner = is_known ? Wanted::value(types_.base(*joined)) : wanted;
  join_branch(handler, check_expression(handler, inner), inner, joined);
  return *joined;
}

/// The block's value is dropped, and nothing leaves it but its end.
TypeId Checker::check_finally(NodeId node, Wanted wanted) {
  const NodeId guarded = tree().first(node);
  const NodeId block = guarded.exists() ? tree().next(guarded) : NodeId{};
  if (!block.exists()) return TypeTable::error;
  const TypeId type = check_kind(guarded, wanted);
  record(guarded, type);
  const std::size_t loops = std::exchange(depth_.loops, 0);
  ++depth_.finally_blocks;
  ++depth_.guarded;
  check_expression(block, Wanted::any());
  --depth_.guarded;
  --depth_.finally_blocks;
  depth_.loops = loops;
  return type;
}

TypeId Checker::check_budget(NodeId node, Wanted wanted) {
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
  const TypeId type = check_kind(call, wanted);
  record(call, type);
  const TargetKind target = facts(inner.call).target.kind;
  if (target != TargetKind::Function && target != TargetKind::Extern && type != TypeTable::error) {
    diagnostics_.report(diagnostics::BudgetWithoutCall, tree().span(node));
  }
  return type;
}

void Checker::check_budget_clause(NodeId clause) {
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
          .hint("use one of `calls`, `tokens`, `instructions`, `depth` and `time`");
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
