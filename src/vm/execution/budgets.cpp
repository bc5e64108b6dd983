#include <algorithm>

#include "base/ensure.h"
#include "vm/machine_state.h"

namespace tenon::vm {
namespace {

std::uint64_t add_capped(std::uint64_t a, std::uint64_t b) {
  return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/// Calls `visit` for what bounds the scope, innermost first, until it gives something other than OpStatus::Ok. The
/// block of a `finally` that a spent budget around it would end continues with the run's allowance.
OpStatus check_each(MachineState& state, ScopeId innermost, auto visit) {
  ScopeId cleanup;
  for (ScopeId at = innermost; at.index != ScopeId::none; at = state.scopes[at.index].parent) {
    BudgetScope& scope = state.scopes[at.index];
    if (scope.kind == ScopeKind::Allowance) return visit(state.allowance, at);
    if (scope.kind == ScopeKind::Cleanup) cleanup = at;
    const OpStatus status = visit(scope, at);
    if (status == OpStatus::Ok) continue;
    if (cleanup.index == ScopeId::none) return status;
    state.cause = {};
    state.scopes[cleanup.index].kind = ScopeKind::Allowance;
    return visit(state.allowance, cleanup);
  }
  return OpStatus::Ok;
}

/// Calls `visit` for the scope, all around it, and the allowance where it is used.
void charge_each(MachineState& state, ScopeId innermost, auto visit) {
  bool uses_allowance = false;
  for (ScopeId at = innermost; at.index != ScopeId::none; at = state.scopes[at.index].parent) {
    visit(state.scopes[at.index]);
    uses_allowance = uses_allowance || state.scopes[at.index].kind == ScopeKind::Allowance;
  }
  if (uses_allowance) visit(state.allowance);
}

/// What outcomes took, and what was computed.
std::uint64_t time_of(const BudgetScope& scope) {
  return add_capped(scope.milliseconds, scope.instructions / instructions_per_millisecond);
}

/// Instructions by which the scope's time goes past its bound.
std::uint64_t left_of_time(const BudgetScope& scope) {
  if (time_of(scope) > *scope.bounds.milliseconds) return 0;
  const std::uint64_t milliseconds = *scope.bounds.milliseconds - scope.milliseconds;
  if (milliseconds >= UINT64_MAX / instructions_per_millisecond) return UINT64_MAX;
  return (milliseconds + 1) * instructions_per_millisecond - scope.instructions;
}

std::uint64_t left_of(const BudgetScope& scope) {
  std::uint64_t left = UINT64_MAX;
  if (scope.bounds.instructions) {
    left = *scope.bounds.instructions - std::min(scope.instructions, *scope.bounds.instructions);
  }
  if (scope.bounds.milliseconds) left = std::min(left, left_of_time(scope));
  return left;
}

/// The deepest frame count that the scope itself allows.
std::uint64_t own_depth_limit(const BudgetScope& scope) {
  if (scope.kind == ScopeKind::Allowance) return add_capped(scope.base_depth, cleanup_depth_max);
  return scope.bounds.depth ? add_capped(scope.base_depth, *scope.bounds.depth) : UINT64_MAX;
}

/// Fails if a bound is used up whose cost is only known from outcomes.
OpStatus check_left(MachineState& state, BudgetScope& scope, ScopeId id) {
  if (scope.bounds.tokens && scope.tokens >= *scope.bounds.tokens) {
    return fail_budget(state, id, "tokens", *scope.bounds.tokens, "token");
  }
  if (scope.bounds.cost_millionths && scope.cost_millionths >= *scope.bounds.cost_millionths) {
    return fail_budget(state, id, "cost", *scope.bounds.cost_millionths, "millionth");
  }
  if (scope.bounds.milliseconds && time_of(scope) >= *scope.bounds.milliseconds) {
    return fail_budget(state, id, "time", *scope.bounds.milliseconds, "millisecond");
  }
  return OpStatus::Ok;
}

void enter_scope(MachineState& state, Frame& frame, const BudgetScope& scope) {
  if (state.free_scopes.empty()) {
    frame.scope = {static_cast<std::uint32_t>(state.scopes.size())};
    state.scopes.push_back(scope);
  } else {
    frame.scope = {*state.free_scopes.begin()};
    state.free_scopes.erase(state.free_scopes.begin());
    state.scopes[frame.scope.index] = scope;
  }
  ++frame.open_budgets;
}

}  // namespace

void charge_instructions(MachineState& state, ScopeId scope, std::uint64_t count) {
  charge_each(state, scope, [&](BudgetScope& at) { at.instructions += count; });
}

std::uint64_t instructions_left(MachineState& state, ScopeId scope) {
  std::uint64_t left = UINT64_MAX;
  ScopeId cleanup;
  for (ScopeId at = scope; at.index != ScopeId::none; at = state.scopes[at.index].parent) {
    const BudgetScope& budget = state.scopes[at.index];
    if (budget.kind == ScopeKind::Allowance) return std::min(left, left_of(state.allowance));
    if (budget.kind == ScopeKind::Cleanup) cleanup = at;
    const std::uint64_t here = left_of(budget);
    if (here == 0 && cleanup.index != ScopeId::none) {
      state.scopes[cleanup.index].kind = ScopeKind::Allowance;
      return instructions_left(state, scope);
    }
    left = std::min(left, here);
  }
  return left;
}

std::optional<std::uint64_t> time_left(const MachineState& state, ScopeId innermost) {
  std::optional<std::uint64_t> left;
  const auto bound = [&](const BudgetScope& scope, std::uint64_t more) {
    if (!scope.bounds.milliseconds) return;
    const std::uint64_t spent = std::min(time_of(scope), *scope.bounds.milliseconds);
    const std::uint64_t here = add_capped(*scope.bounds.milliseconds - spent, more);
    left = std::min(left.value_or(here), here);
  };
  std::uint64_t more = 0;  // what the allowance adds to the budgets around the block of a `finally`
  for (ScopeId at = innermost; at.index != ScopeId::none; at = state.scopes[at.index].parent) {
    const BudgetScope& scope = state.scopes[at.index];
    if (scope.kind == ScopeKind::Allowance) {
      bound(state.allowance, 0);
      return left;
    }
    if (scope.kind == ScopeKind::Cleanup) {
      const std::uint64_t allowed = *cleanup_bounds.milliseconds;
      more = allowed - std::min(time_of(state.allowance), allowed);
    }
    bound(scope, more);
  }
  return left;
}

std::uint64_t depth_limit(const MachineState& state, ScopeId scope) {
  std::uint64_t limit = UINT64_MAX;
  for (ScopeId at = scope; at.index != ScopeId::none; at = state.scopes[at.index].parent) {
    limit = std::min(limit, own_depth_limit(state.scopes[at.index]));
    if (state.scopes[at.index].kind == ScopeKind::Allowance) break;
  }
  return limit;
}

OpStatus fail_instructions(MachineState& state, ScopeId scope) {
  return check_each(state, scope, [&](const BudgetScope& at, ScopeId id) {
    if (left_of(at) > 0) return OpStatus::Ok;
    if (at.bounds.instructions && at.instructions >= *at.bounds.instructions) {
      return fail_budget(state, id, "instructions", *at.bounds.instructions, "instruction");
    }
    return fail_budget(state, id, "time", *at.bounds.milliseconds, "millisecond");
  });
}

OpStatus fail_depth(MachineState& state, ScopeId scope, std::uint64_t depth) {
  return check_each(state, scope, [&](const BudgetScope&, ScopeId id) {
    const BudgetScope& at = state.scopes[id.index];
    if (depth <= own_depth_limit(at)) return OpStatus::Ok;
    const std::uint64_t amount = at.kind == ScopeKind::Allowance ? cleanup_depth_max : *at.bounds.depth;
    return fail_budget(state, id, "depth", amount, "call inside another", "calls inside one another");
  });
}

OpStatus charge_model_call(MachineState& state, ScopeId scope) {
  const OpStatus left = check_each(state, scope, [&](BudgetScope& at, ScopeId id) {
    if (at.bounds.model_calls && at.model_calls >= *at.bounds.model_calls) {
      return fail_budget(state, id, "calls", *at.bounds.model_calls, "model call");
    }
    return check_left(state, at, id);
  });
  if (left != OpStatus::Ok) return left;
  charge_each(state, scope, [](BudgetScope& at) { ++at.model_calls; });
  return OpStatus::Ok;
}

OpStatus charge_usage(MachineState& state, ScopeId scope, RequestKind kind, const Usage& usage) {
  const bool is_charged = kind != RequestKind::Extern && usage.model_calls > 0;
  const std::uint64_t more_calls = usage.model_calls - (is_charged ? 1 : 0);
  charge_each(state, scope, [&](BudgetScope& at) {
    at.model_calls = add_capped(at.model_calls, more_calls);
    at.tokens = add_capped(at.tokens, usage.tokens);
    at.cost_millionths = add_capped(at.cost_millionths, usage.cost_millionths);
    at.milliseconds = add_capped(at.milliseconds, usage.milliseconds);
  });
  return check_each(state, scope, [&](const BudgetScope& at, ScopeId id) {
    if (at.bounds.model_calls && at.model_calls > *at.bounds.model_calls) {
      return fail_budget(state, id, "calls", *at.bounds.model_calls, "model call");
    }
    if (at.bounds.tokens && at.tokens > *at.bounds.tokens)
      return fail_budget(state, id, "tokens", *at.bounds.tokens, "token");
    if (at.bounds.cost_millionths && at.cost_millionths > *at.bounds.cost_millionths) {
      return fail_budget(state, id, "cost", *at.bounds.cost_millionths, "millionth");
    }
    if (at.bounds.milliseconds && time_of(at) > *at.bounds.milliseconds) {
      return fail_budget(state, id, "time", *at.bounds.milliseconds, "millisecond");
    }
    return OpStatus::Ok;
  });
}

void label_spending(MachineState& state, ScopeId scope, LabelId label) {
  charge_each(state, scope, [&](BudgetScope& at) { at.label = state.labels.join(at.label, label); });
}

void open_scope(MachineState& state, Fiber& fiber, std::uint32_t budget) {
  Frame& frame = fiber.frames.back();
  BudgetScope scope;
  scope.parent = frame.scope;
  scope.budget = budget;
  scope.is_open = true;
  scope.bounds = state.program->program().budgets[budget].bounds;
  scope.base_depth = fiber.depth();
  enter_scope(state, frame, scope);
}

void open_cleanup(MachineState& state, Fiber& fiber) {
  Frame& frame = fiber.frames.back();
  BudgetScope scope;
  scope.parent = frame.scope;
  scope.is_open = true;
  scope.kind = ScopeKind::Cleanup;
  scope.base_depth = fiber.depth();
  enter_scope(state, frame, scope);
}

void close_scope(MachineState& state, Fiber& fiber) {
  Frame& frame = fiber.frames.back();
  ENSURE(frame.open_budgets > 0 && frame.scope != run_scope);
  const ScopeId closed = frame.scope;
  frame.scope = state.scopes[closed.index].parent;
  --frame.open_budgets;
  state.scopes[closed.index] = {};
  state.free_scopes.insert(closed.index);
}

void close_all_scopes(MachineState& state, Fiber& fiber) {
  while (!fiber.frames.empty()) {
    const std::uint32_t floor = fiber.frames.size() == 1 ? fiber.budget_floor : 0;
    while (fiber.frames.back().open_budgets > floor) close_scope(state, fiber);
    fiber.frames.pop_back();
  }
}

ScopeId restored_scope(const MachineState& state, const Frame& frame, std::uint32_t open_budgets) {
  ScopeId scope = frame.scope;
  for (std::uint32_t open = frame.open_budgets; open > open_budgets; --open) scope = state.scopes[scope.index].parent;
  return scope;
}

bool encloses(const MachineState& state, ScopeId outer, ScopeId inner) {
  for (ScopeId at = inner; at.index != ScopeId::none; at = state.scopes[at.index].parent) {
    if (at == outer) return true;
  }
  return false;
}

}  // namespace tenon::vm
