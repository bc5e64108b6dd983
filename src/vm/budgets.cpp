#include <algorithm>

#include "base/ensure.h"
#include "vm/machine_state.h"

namespace tenon::vm {
namespace {

std::uint64_t add_capped(std::uint64_t a, std::uint64_t b) {
  return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/// Calls `visit` for the scope and all around it, innermost first, until it gives something other than Did::Go.
Did for_each_scope(MachineState& state, ScopeId innermost, auto visit) {
  for (ScopeId at = innermost; at.index != ScopeId::none; at = state.scopes[at.index].parent) {
    if (const Did did = visit(state.scopes[at.index], at); did != Did::Go) return did;
  }
  return Did::Go;
}

/// Fails when nothing is left of what only an outcome tells the price of.
Did check_left(MachineState& state, BudgetScope& scope, ScopeId id) {
  if (scope.tokens_max && scope.tokens >= *scope.tokens_max) {
    return fail_budget(state, id, "tokens", *scope.tokens_max, "tokens");
  }
  if (scope.cost_millionths_max && scope.cost_millionths >= *scope.cost_millionths_max) {
    return fail_budget(state, id, "cost", *scope.cost_millionths_max, "millionths");
  }
  if (scope.milliseconds_max && scope.milliseconds >= *scope.milliseconds_max) {
    return fail_budget(state, id, "time", *scope.milliseconds_max, "milliseconds");
  }
  return Did::Go;
}

}  // namespace

void charge_instructions(MachineState& state, ScopeId scope, std::uint64_t count) {
  static_cast<void>(for_each_scope(state, scope, [&](BudgetScope& at, ScopeId) {
    at.instructions += count;
    return Did::Go;
  }));
}

std::uint64_t instructions_left(const MachineState& state, ScopeId scope) {
  std::uint64_t left = UINT64_MAX;
  for (ScopeId at = scope; at.index != ScopeId::none; at = state.scopes[at.index].parent) {
    const BudgetScope& budget = state.scopes[at.index];
    if (!budget.instructions_max) continue;
    left = std::min(left, *budget.instructions_max - std::min(budget.instructions, *budget.instructions_max));
  }
  return left;
}

std::uint64_t depth_limit(const MachineState& state, ScopeId scope) {
  std::uint64_t limit = UINT64_MAX;
  for (ScopeId at = scope; at.index != ScopeId::none; at = state.scopes[at.index].parent) {
    const BudgetScope& budget = state.scopes[at.index];
    if (budget.depth_max) limit = std::min(limit, add_capped(budget.base_depth, *budget.depth_max));
  }
  return limit;
}

Did fail_instructions(MachineState& state, ScopeId scope) {
  return for_each_scope(state, scope, [&](const BudgetScope& at, ScopeId id) {
    if (!at.instructions_max || at.instructions < *at.instructions_max) return Did::Go;
    return fail_budget(state, id, "instructions", *at.instructions_max, "instructions");
  });
}

Did fail_depth(MachineState& state, ScopeId scope, std::uint64_t depth) {
  return for_each_scope(state, scope, [&](const BudgetScope& at, ScopeId id) {
    if (!at.depth_max || depth <= add_capped(at.base_depth, *at.depth_max)) return Did::Go;
    return fail_budget(state, id, "depth", *at.depth_max, "calls inside one another");
  });
}

Did charge_model_call(MachineState& state, ScopeId scope) {
  const Did left = for_each_scope(state, scope, [&](BudgetScope& at, ScopeId id) {
    if (at.model_calls_max && at.model_calls >= *at.model_calls_max) {
      return fail_budget(state, id, "calls", *at.model_calls_max, "model calls");
    }
    return check_left(state, at, id);
  });
  if (left != Did::Go) return left;
  return for_each_scope(state, scope, [](BudgetScope& at, ScopeId) {
    ++at.model_calls;
    return Did::Go;
  });
}

Did charge_usage(MachineState& state, ScopeId scope, RequestKind kind, const Usage& usage) {
  const bool is_charged = kind != RequestKind::Extern && usage.model_calls > 0;
  const std::uint64_t more_calls = usage.model_calls - (is_charged ? 1 : 0);
  static_cast<void>(for_each_scope(state, scope, [&](BudgetScope& at, ScopeId) {
    at.model_calls = add_capped(at.model_calls, more_calls);
    at.tokens = add_capped(at.tokens, usage.tokens);
    at.cost_millionths = add_capped(at.cost_millionths, usage.cost_millionths);
    at.milliseconds = add_capped(at.milliseconds, usage.milliseconds);
    return Did::Go;
  }));
  return for_each_scope(state, scope, [&](const BudgetScope& at, ScopeId id) {
    if (at.model_calls_max && at.model_calls > *at.model_calls_max) {
      return fail_budget(state, id, "calls", *at.model_calls_max, "model calls");
    }
    if (at.tokens_max && at.tokens > *at.tokens_max) return fail_budget(state, id, "tokens", *at.tokens_max, "tokens");
    if (at.cost_millionths_max && at.cost_millionths > *at.cost_millionths_max) {
      return fail_budget(state, id, "cost", *at.cost_millionths_max, "millionths");
    }
    if (at.milliseconds_max && at.milliseconds > *at.milliseconds_max) {
      return fail_budget(state, id, "time", *at.milliseconds_max, "milliseconds");
    }
    return Did::Go;
  });
}

void open_scope(MachineState& state, Fiber& fiber, std::uint32_t budget) {
  Frame& frame = fiber.frames.back();
  const bytecode::Budget& bounds = state.program->program().budgets[budget];
  BudgetScope scope;
  scope.parent = frame.scope;
  scope.budget = budget;
  scope.is_open = true;
  scope.model_calls_max = bounds.model_calls;
  scope.tokens_max = bounds.tokens;
  scope.instructions_max = bounds.instructions;
  scope.depth_max = bounds.depth;
  scope.cost_millionths_max = bounds.cost_millionths;
  scope.milliseconds_max = bounds.milliseconds;
  scope.base_depth = fiber.depth();
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

bool encloses(const MachineState& state, ScopeId outer, ScopeId inner) {
  for (ScopeId at = inner; at.index != ScopeId::none; at = state.scopes[at.index].parent) {
    if (at == outer) return true;
  }
  return false;
}

}  // namespace tenon::vm
