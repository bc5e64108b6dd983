// Branches: `if`, `match`, `select`, `for`, `parallel`, `catch`, `finally`, `shield`.

#include "types/check/expressions/branches.h"

#include <algorithm>
#include <map>

#include "diagnostics/kinds.h"
#include "syntax/limited_call.h"
#include "syntax/literals.h"
#include "types/check/body_checker.h"
#include "types/declarations/distinct_names.h"

namespace tenon::types {
void BranchChecker::join_branch(NodeId branch, TypeId type, Expectation expected, std::optional<TypeId>& joined) {
  if (type == TypeTable::never || type == TypeTable::error) {
    if (!joined) joined = type;
    return;
  }
  if (expected.kind == Expectation::Kind::Nothing) {
    joined = TypeTable::unit;
    return;
  }
  if (!joined || *joined == TypeTable::never || *joined == TypeTable::error) {
    joined = type;
    return;
  }
  if (expected.has_type() && (type == TypeTable::unit) == (*joined == TypeTable::unit)) {
    joined = type == TypeTable::unit ? type : expected.type;  // each branch was held against what is expected
    return;
  }
  if (const auto common = checker_.assignability.common_type(*joined, type)) {
    joined = common;
    return;
  }
  diagnostics_.report(diagnostics::BranchesDiffer, tree().span(branch), describe(type), describe(*joined));
}

/// The body after `=>`: a block, an expression, an injection.
TypeId BranchChecker::check_body(NodeId node, Expectation expected) {
  if (tree().kind(node) != NodeKind::InjectBody) return check_expression(node, expected);
  checker_.statements.check_inject(node);
  record(node, TypeTable::unit);
  return TypeTable::unit;
}

/// The block of an `if` without `else`. In the other case there is no value, so where one is used the block gives none
/// either; as a statement it may give one, which is dropped.
TypeId BranchChecker::check_if_alone(NodeId node, NodeId body, Expectation expected) {
  const bool is_dropped = expected.kind == Expectation::Kind::Nothing;
  const TypeId type = check_expression(body, is_dropped ? expected : Expectation::any());
  if (is_dropped || type == TypeTable::unit || type == TypeTable::never) return TypeTable::unit;
  if (type != TypeTable::error) {
    diagnostics_.report(diagnostics::MissingElse, tree().main_span(node), describe(type))
        .hint("add an `else` branch, or discard the value with `;`");
  }
  return TypeTable::error;
}

TypeId BranchChecker::check_if(NodeId node, Expectation expected) {
  const NodeId condition = tree().first(node);
  if (!condition.exists()) return TypeTable::error;
  const NodeId body = tree().next(condition);
  std::optional<TypeId> joined;
  {
    const Scope scope(body_);
    checker_.statements.check_condition(condition);
    if (!body.exists()) return TypeTable::error;
    const NodeId otherwise = tree().next(body);
    if (!otherwise.exists()) return check_if_alone(node, body, expected);
    const TypeId type = check_expression(body, expected);
    join_branch(body, type, expected, joined);
  }
  const NodeId otherwise = tree().next(body);
  join_branch(otherwise, check_expression(otherwise, expected), expected, joined);
  return *joined;
}

TypeId BranchChecker::check_match(NodeId node, Expectation expected) {
  const NodeId value = tree().first(node);
  if (!value.exists()) return TypeTable::error;
  const TypeId type = check_expression(value, Expectation::any());
  std::optional<TypeId> joined;
  const std::vector<NodeId> arms = tree().children(node, NodeKind::MatchArm);
  bool patterns_fit = true;
  bool is_refused = false;
  for (const NodeId arm : arms) {
    const Scope scope(body_);
    NodeId part = tree().first(arm);
    if (!part.exists()) continue;
    const std::size_t errors = diagnostics_.error_count();
    checker_.patterns.check_pattern(part, type);
    patterns_fit = patterns_fit && errors == diagnostics_.error_count();
    part = tree().next(part);
    if (part.exists() && tree().kind(part) == NodeKind::Guard) {
      if (const NodeId guard = tree().first(part); guard.exists()) checker_.statements.check_condition(guard);
      part = tree().next(part);
    }
    if (part.exists()) {
      const std::size_t before = diagnostics_.error_count();
      const TypeId given = check_body(part, is_refused ? Expectation::any() : expected);
      // Only the first arm whose type differs from the expected one is reported.
      if (!is_refused) join_branch(part, given, expected, joined);
      is_refused = is_refused || (expected.has_type() && !is_assignable(given, expected.type) &&
                                  before != diagnostics_.error_count());
    }
  }
  const bool is_whole = !tree().find_child(node, NodeKind::Error).exists();
  if (type != TypeTable::error && patterns_fit && is_whole) checker_.patterns.check_exhaustive(node, type, arms);
  return joined.value_or(TypeTable::unit);
}

TypeId BranchChecker::check_select(NodeId node, Expectation expected) {
  checker_.names.require_own_context(node, "select");
  // One report for the `select`, none for each `_` in it.
  const bool was_reported = std::exchange(body_.reported.missing_context, !body_.function.own_context);
  const std::vector<NodeId> clauses = tree().children(node, NodeKind::SelectClause);
  if (clauses.size() > select_clauses_max) {
    diagnostics_.report(diagnostics::SelectTooLarge, tree().main_span(node), "select", select_clauses_max, "clauses");
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
  std::map<std::pair<std::string_view, std::string_view>, NodeId> shown;  // by call and binding, as a model sees them
  for (const NodeId clause : clauses) {
    const Scope scope(body_);
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
          join_branch(body, check_body(body, expected), expected, joined);
        }
        continue;
      }
      if (spreads && tree().first(call).exists()) check_value(tree().first(call), types_.tools());
      const TypeId result = spreads ? types_.tool_result() : check_expression(part, Expectation::any());
      const TargetKind target = facts(call).target.kind;
      const bool is_call = (kind == NodeKind::CallExpression || kind == NodeKind::MethodCallExpression) &&
                           (target == TargetKind::Function || target == TargetKind::Extern);
      if (!is_call && !spreads && result != TypeTable::error) {
        diagnostics_.report(diagnostics::ClauseNotCall, tree().span(call));
      }
      if (is_call && target == TargetKind::Extern && !has_hole(call)) {
        checker_.names.reject_notification(call, ExternId{facts(call).target.index});
      }
      const bool is_bound = main == TokenKind::Identifier && tree()[clause].main_token >= tree()[part].end_token;
      if (is_bound) {
        facts(clause).target = {TargetKind::Local,
                                declare_local(tree().main_text(clause), result, tree().main_span(clause)).index, 0};
      }
      const auto binding = is_bound ? tree().main_text(clause) : std::string_view();
      const auto [first, is_new] = shown.try_emplace({tree().text(call), binding}, call);
      if (is_call && !is_new) {
        diagnostics_.report(diagnostics::DuplicateClause, tree().span(call))
            .label(tree().span(first->second), "first offered here")
            .hint("remove it, or give each result a name that tells when to choose it: `… as refund => …`");
      }
      part = tree().next(part);
    } else if (tree().next(clause).exists()) {
      diagnostics_.report(diagnostics::ElseNotLast, tree().main_span(clause)).hint("move it to the end");
    }
    if (part.exists()) join_branch(part, check_body(part, expected), expected, joined);
  }
  body_.reported.missing_context = was_reported;
  return joined.value_or(TypeTable::unit);
}

/// What `for` takes out of `items`, which has that type.
TypeId BranchChecker::item_type(NodeId items, TypeId type) {
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
      if (is_text(types_, type)) report.hint("use `.chars()` for the characters or `.lines()` for the lines");
      if (is_integer(types_, type)) report.hint("use `0..n` to count up to n");
      checker_.assignability.hint_handling(report, type);
      return TypeTable::error;
    }
  }
}

TypeId BranchChecker::check_for(NodeId node, Expectation expected) {
  const NodeId pattern = tree().first(node);
  const NodeId items = pattern.exists() ? tree().next(pattern) : NodeId{};
  if (!items.exists()) return TypeTable::error;
  const TypeId type = checker_.expressions.check_items(items);
  const NodeId clause = tree().find_child(node, NodeKind::ParallelClause);
  const bool is_refused = clause.exists() && types_.kind(type) != TypeKind::List && type != TypeTable::error;
  const TypeId item = is_refused ? TypeTable::error : item_type(items, type);
  const NodeId body = tree().next(clause.exists() ? clause : items);
  if (!clause.exists()) {
    const Scope scope(body_);
    checker_.patterns.check_pattern(pattern, item);
    if (body.exists()) {
      ++body_.depth.loops;
      checker_.statements.check_block(body, Expectation::nothing());
      --body_.depth.loops;
    }
    return TypeTable::unit;
  }
  if (is_refused) {
    auto& report = diagnostics_.report(diagnostics::NotIterable, tree().span(items), describe(type))
                       .hint("`parallel` loops require a `List`");
    if (is_text(types_, type)) report.hint("use `.chars()` for the characters or `.lines()` for the lines");
    checker_.assignability.hint_handling(report, type);
  }
  if (const NodeId limit = tree().first(clause); limit.exists()) check_value(limit, TypeTable::i32);
  const Branch branch(body_);
  const Scope scope(body_);
  checker_.patterns.check_pattern(pattern, item);
  if (!body.exists()) return TypeTable::error;
  Expectation inner = Expectation::any();
  if (expected.kind == Expectation::Kind::Nothing) inner = Expectation::nothing();
  if (expected.has_type() && types_.kind(expected.type) == TypeKind::List)
    inner = Expectation::value(types_.get(expected.type).arguments[0]);
  const TypeId result = checker_.statements.check_block(body, inner);
  if (result == TypeTable::unit || result == TypeTable::never) return TypeTable::unit;
  if (body_.resolver.reject_context(result, body, "the value of a parallel branch")) return TypeTable::error;
  return result == TypeTable::error ? result : types_.list(inner.has_type() ? inner.type : result);
}

/// Branches with names give a struct with these fields, others a tuple.
TypeId BranchChecker::check_parallel(NodeId node) {
  std::vector<Field> fields;
  DistinctNames names;
  std::vector<TypeId> items;
  bool named = true;
  for (const NodeId branch_node : tree().children(node, NodeKind::ParallelBranch)) {
    const NodeId value = tree().first(branch_node);
    if (!value.exists()) continue;
    const Branch branch(body_);
    const Scope scope(body_);
    TypeId type = check_expression(value, Expectation::any());
    if (body_.resolver.reject_context(type, value, "the value of a parallel branch")) type = TypeTable::error;
    const bool has_name = tree()[branch_node].main_token < tree()[value].first_token;
    named = named && has_name;
    items.push_back(type == TypeTable::never ? TypeTable::unit : type);
    if (!has_name) continue;
    const std::string name(tree().main_text(branch_node));
    if (!add_new(names, tree().main_text(branch_node)))
      diagnostics_.report(diagnostics::DeclaredTwice, tree().main_span(branch_node), name);
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

TypeId BranchChecker::check_catch(NodeId node, Expectation expected) {
  const NodeId value = tree().first(node);
  const NodeId handler = value.exists() ? tree().next(value) : NodeId{};
  if (!handler.exists()) return TypeTable::error;
  std::optional<TypeId> joined;
  ++body_.depth.guarded;
  const TypeId tried = check_expression(value, expected);
  --body_.depth.guarded;
  join_branch(value, tried, expected, joined);
  const Scope scope(body_);
  const std::string_view name = tree().main_text(node);
  if (name != "_") {
    facts(node).target = {TargetKind::Local, declare_local(name, TypeTable::failure, tree().main_span(node)).index, 0};
  }
  // The value of the handler takes the place of the value that was tried.
  const bool is_known = expected.kind == Expectation::Kind::Any && *joined != TypeTable::never &&
                        *joined != TypeTable::error && *joined != TypeTable::unit;
  const Expectation inner = is_known ? Expectation::value(types_.base(*joined)) : expected;
  join_branch(handler, check_expression(handler, inner), inner, joined);
  return *joined;
}

/// The block's value is dropped, and nothing leaves it but its end.
TypeId BranchChecker::check_finally(NodeId node, Expectation expected) {
  const NodeId guarded = tree().first(node);
  const NodeId block = guarded.exists() ? tree().next(guarded) : NodeId{};
  if (!block.exists()) return TypeTable::error;
  const TypeId type = check_kind(guarded, expected);
  record(guarded, type);
  const std::size_t loops = std::exchange(body_.depth.loops, 0);
  ++body_.depth.finally_blocks;
  ++body_.depth.guarded;
  check_expression(block, Expectation::any());
  --body_.depth.guarded;
  --body_.depth.finally_blocks;
  body_.depth.loops = loops;
  return type;
}

/// The turn cannot be handed off inside: the other agent's would be part of the block.
TypeId BranchChecker::check_shield(NodeId node, Expectation expected) {
  const NodeId block = tree().first(node);
  if (!block.exists()) return TypeTable::error;
  ++body_.depth.guarded;
  const TypeId type = check_kind(block, expected);
  --body_.depth.guarded;
  record(block, type);
  return type;
}

}  // namespace tenon::types
