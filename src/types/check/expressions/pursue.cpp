// `pursue`: a goal, the state to begin with, and the actions that may be taken.

#include "types/check/expressions/pursue.h"

#include <fmt/format.h>
#include <algorithm>
#include <utility>

#include "diagnostics/kinds.h"
#include "syntax/limited_call.h"
#include "types/check/body_checker.h"

namespace tenon::types {

TypeId PursueChecker::check_pursue(NodeId node, Expectation expected) {
  checker_.names.require_own_context(node, "pursue");
  const NodeId goal = tree().first(node);
  const NodeId start = goal.exists() ? tree().next(goal) : NodeId{};
  if (!start.exists()) return TypeTable::error;
  Pursuit pursuit;
  const TypeId begun = check_expression(start, Expectation::any());
  std::vector<TypeId> given{begun};  // what a state may be: what it was begun with, then what each action gives
  std::vector<TypeId> taken;         // by each action
  std::set<std::string_view> bounds;
  std::map<std::string, std::uint32_t> uses;      // of each function's name
  std::map<std::string, NodeId> actions;          // by name
  std::map<std::string_view, std::string> texts;  // the name of each action, by its text
  for (NodeId part = tree().next(start); part.exists(); part = tree().next(part)) {
    if (tree().kind(part) == NodeKind::PursueLimit) {
      if (!bounds.insert(tree().main_text(part)).second) {
        diagnostics_.report(diagnostics::SpecifiedTwice, tree().main_span(part), std::string(tree().main_text(part)));
      }
      if (tree().first(part).exists()) check_value(tree().first(part), bound_type(part));
      continue;
    }
    if (!tree().first(part).exists()) continue;
    given.push_back(check_action(tree().first(part), taken));
    pursuit.actions.push_back(syntax::read_limited_call(tree(), tree().first(part)).call);
    pursuit.names.push_back(action_name(part, uses));
    // An equal call without a name gets a number, and is still the same action.
    const auto text = texts.emplace(tree().text(part), pursuit.names.back()).first;
    const auto same = actions.try_emplace(text->second, pursuit.actions.back()).first;
    const auto named = actions.emplace(pursuit.names.back(), pursuit.actions.back()).first;
    const bool is_named_twice = named->second != pursuit.actions.back();
    const bool is_written_twice = same->second != pursuit.actions.back();
    if (is_named_twice || is_written_twice) {
      diagnostics_
          .report(diagnostics::DuplicateAction, tree().span(part), is_named_twice ? pursuit.names.back() : text->second)
          .label(tree().span((is_named_twice ? named : same)->second), "first used here")
          .hint("rename one of them: `… as name`");
    }
  }
  if (pursuit.actions.size() > select_clauses_max) {
    diagnostics_.report(diagnostics::SelectTooLarge, tree().main_span(node), "pursue", select_clauses_max, "actions");
    return TypeTable::error;
  }
  if (given.size() == 1) {
    diagnostics_.report(diagnostics::PursueWithoutActions, tree().main_span(node))
        .hint("add an action such as `improve(_)`");
    return TypeTable::error;
  }
  const bool is_reported =
      std::any_of(given.begin() + 1, given.end(), [](TypeId type) { return type == TypeTable::error; });
  if (is_reported && !expected.has_type()) return TypeTable::error;
  // The goal is a value of the type that is expected, or of the one that all actions give.
  const bool are_same = std::all_of(given.begin() + 1, given.end(),
                                    [&](TypeId type) { return types_.base(type) == types_.base(given[1]); });
  if (!expected.has_type() && !are_same) {
    diagnostics_.report(diagnostics::CannotInferType, tree().main_span(node), "this `pursue`")
        .hint("add a type annotation: `let found: List<Novel> = pursue …`");
    return TypeTable::error;
  }
  const TypeId type = expected.has_type() ? expected.type : types_.base(given[1]);
  if (tree().kind(goal) == NodeKind::ClosureExpression) {
    const TypeId parameters[] = {type};
    checker_.methods.check_closure(goal, parameters, Expectation::value(TypeTable::boolean));
  } else {
    check_value(goal, TypeTable::string);
  }
  std::map<std::uint32_t, std::vector<bool>> known;  // which states an action takes, by the type that it takes
  for (std::size_t action = 0; action < taken.size(); ++action) {
    const auto [row, is_new] = known.try_emplace(taken[action].index);
    if (is_new) {
      for (const TypeId state : given) row->second.push_back(is_assignable(state, taken[action]));
    }
    pursuit.takes.push_back(row->second);
    pursuit.may_reach.push_back(is_assignable(given[action + 1], type));
  }
  if (std::none_of(pursuit.may_reach.begin(), pursuit.may_reach.end(), [](bool reaches) { return reaches; }) &&
      type != TypeTable::error) {
    diagnostics_.report(diagnostics::GoalTypeNotReturned, tree().main_span(node), describe(type));
  }
  pursuit.may_start_there = is_assignable(begun, type);
  pursuit.type = type;
  body_.result.pursuits[node.index] = std::move(pursuit);
  return type;
}

/// Of `width` a number from 1, of `limit` one from 0, which leaves no step: written as a number, that is a mistake.
TypeId PursueChecker::bound_type(NodeId bound) {
  const bool is_number = tree().kind(tree().first(bound)) == NodeKind::IntegerExpression;
  Refinement range;
  range.low = std::int64_t{is_number || tree().main_text(bound) == "width" ? 1 : 0};
  return types_.refined(TypeTable::i32, range);
}

/// Whether the action has an `as`.
bool PursueChecker::has_name(NodeId action) const {
  return tree()[action].main_token >= tree()[tree().first(action)].end_token;
}

/// The name of an action for the model: the one after `as`, or the function's; a second one without `as` is followed
/// by its number.
std::string PursueChecker::action_name(NodeId action, std::map<std::string, std::uint32_t>& uses) const {
  const NodeId call = tree().first(action);
  if (has_name(action)) return std::string(tree().main_text(action));
  const Target& target = facts(syntax::read_limited_call(tree(), call).call).target;
  std::string name = target.kind == TargetKind::Function ? program_.functions[target.index].name
                     : target.kind == TargetKind::Extern ? program_.externs[target.index].name
                                                         : std::string(tree().text(call));
  if (const std::uint32_t same = ++uses[name]; same > 1) name += fmt::format("_{}", same);
  return name;
}

/// A call with one hole, which is the state; its type is added to `taken`. Returns the type of the next state.
TypeId PursueChecker::check_action(NodeId action, std::vector<TypeId>& taken) {
  taken.push_back(TypeTable::error);
  const NodeId node = syntax::read_limited_call(tree(), action).call;
  const NodeId outer = std::exchange(body_.action, tree().kind(node) == NodeKind::CallExpression ? node : NodeId{});
  const TypeId result = check_expression(action, Expectation::any());
  body_.action = outer;
  const Target& target = facts(node).target;
  const bool is_function = target.kind == TargetKind::Function && tree().kind(node) == NodeKind::CallExpression &&
                           program_.functions[target.index].role == FunctionRole::Written;
  const bool is_extern = target.kind == TargetKind::Extern && tree().kind(node) == NodeKind::CallExpression &&
                         program_.externs[target.index].builtin_effect == BuiltinEffect::Native;
  if (!is_function && !is_extern) {
    if (result != TypeTable::error) {
      diagnostics_.report(diagnostics::ActionNotCall, tree().span(node));
    }
    return TypeTable::error;
  }
  std::size_t holes = 0;
  for (const NodeId argument : tree().children(tree().find_child(node, NodeKind::Arguments))) {
    if (tree().kind(argument) != NodeKind::HoleExpression) continue;
    ++holes;
    taken.back() = facts(argument).type;
  }
  if (holes != 1 && result != TypeTable::error) {
    diagnostics_.report(diagnostics::ActionHoleCount, tree().span(node));
  }
  return result;
}

}  // namespace tenon::types
