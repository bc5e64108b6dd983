// `pursue`: a goal, the state to begin with, and the actions that may be taken.

#include <fmt/format.h>

#include <algorithm>

#include "diagnostics/kinds.h"
#include "types/checker.h"

namespace tenon::types {

TypeId Checker::check_pursue(NodeId node, Wanted wanted) {
  require_own_context(node, "pursue");
  const NodeId goal = tree().first(node);
  const NodeId start = goal.exists() ? tree().next(goal) : NodeId{};
  if (!start.exists()) return TypeTable::error;
  Pursuit pursuit;
  const TypeId begun = check_expression(start, Wanted::any());
  std::vector<TypeId> given{begun};  // what a state may be: what it was begun with, then what each action gives
  std::vector<TypeId> taken;         // by each action
  std::set<std::string_view> bounds;
  for (NodeId part = tree().next(start); part.exists(); part = tree().next(part)) {
    if (tree().kind(part) == NodeKind::PursueLimit) {
      if (!bounds.insert(tree().main_text(part)).second) {
        diagnostics_.report(diagnostics::FaultyPursuit, tree().main_span(part),
                            fmt::format("`{}` is said twice", tree().main_text(part)));
      }
      if (tree().first(part).exists()) check_value(tree().first(part), TypeTable::i32);
      continue;
    }
    given.push_back(check_action(part, taken));
    pursuit.actions.push_back(part);
  }
  if (given.size() == 1) {
    diagnostics_.report(diagnostics::FaultyPursuit, tree().main_span(node), "there is no action");
    return TypeTable::error;
  }
  // The goal is a value of the type that is wanted, or of the one that all actions give.
  const bool are_same = std::all_of(given.begin() + 1, given.end(),
                                    [&](TypeId type) { return types_.base(type) == types_.base(given[1]); });
  if (!wanted.has_type() && !are_same) {
    diagnostics_.report(diagnostics::FaultyPursuit, tree().main_span(node), "the type of what is pursued is not known")
        .hint("say it: `let found: List<Novel> = pursue …`");
    return TypeTable::error;
  }
  const TypeId type = wanted.has_type() ? wanted.type : types_.base(given[1]);
  if (tree().kind(goal) == NodeKind::ClosureExpression) {
    const TypeId parameters[] = {type};
    check_closure(goal, parameters, Wanted::value(TypeTable::boolean));
  } else {
    check_value(goal, TypeTable::string);
  }
  for (std::size_t action = 0; action < taken.size(); ++action) {
    std::vector<bool> from;
    for (const TypeId state : given) from.push_back(is_assignable(state, taken[action]));
    pursuit.takes.push_back(std::move(from));
    pursuit.may_reach.push_back(is_assignable(given[action + 1], type));
  }
  if (std::none_of(pursuit.may_reach.begin(), pursuit.may_reach.end(), [](bool reaches) { return reaches; }) &&
      type != TypeTable::error) {
    diagnostics_.report(diagnostics::FaultyPursuit, tree().main_span(node),
                        fmt::format("no action gives a `{}`, which is pursued", describe(type)));
  }
  pursuit.type = type;
  module_->pursuits[node.index] = std::move(pursuit);
  return type;
}

/// A call with one hole, which stands for the state; its type is added to `taken`. Gives the type of the next state.
TypeId Checker::check_action(NodeId node, std::vector<TypeId>& taken) {
  taken.push_back(TypeTable::error);
  const TypeId result = check_expression(node, Wanted::any());
  const Target& target = facts(node).target;
  const bool is_function = target.kind == TargetKind::Function && tree().kind(node) == NodeKind::CallExpression &&
                           program_.functions[target.index].role == FunctionRole::Written;
  const bool is_extern = target.kind == TargetKind::Extern && tree().kind(node) == NodeKind::CallExpression &&
                         program_.externs[target.index].world_call == WorldCall::Native;
  if (!is_function && !is_extern) {
    if (result != TypeTable::error) {
      diagnostics_.report(diagnostics::FaultyPursuit, tree().span(node),
                          "an action is a call of a function or an extern");
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
    diagnostics_.report(diagnostics::FaultyPursuit, tree().span(node),
                        "an action has one `_`, which stands for the state");
  }
  return result;
}

}  // namespace tenon::types
