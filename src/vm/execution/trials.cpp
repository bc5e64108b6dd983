#include "vm/execution/trials.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "vm/execution/finally_handlers.h"
#include "vm/execution/implicit_flows.h"
#include "vm/execution/trust.h"

namespace tenon::vm {
namespace {

using bytecode::Handler;
using bytecode::Tried;

const bytecode::Function& function_of(const MachineState& state, const Fiber& fiber, std::size_t frame) {
  return state.program->program().functions[fiber.frames[frame].function];
}

const Handler& handler_of(const MachineState& state, const Fiber& fiber, const Trial& trial) {
  return function_of(state, fiber, trial.frame).handlers[trial.handler];
}

const bytecode::ControlRegion& region_of(const MachineState& state, const Fiber& fiber, const Trial& trial) {
  return state.program->control_regions().region(
      fiber.frames[trial.frame].function,
      bytecode::decision_of_handler(function_of(state, fiber, trial.frame), trial.handler));
}

LabelId label_of(MachineState& state, const Trial& trial) {
  return state.labels.join(trial.label, trial.doubt);
}

bytecode::HandlerFacts facts_of(const MachineState& state, const Fiber& fiber, std::size_t frame, std::size_t handler) {
  return state.program->control_regions().handler_facts(fiber.frames[frame].function, handler);
}

/// Whether there can be a trial around the fiber.
bool may_be_trial(const Fiber& fiber) {
  return !fiber.trials.empty() || fiber.parent.number != FiberId::none;
}

/// The fiber, and those that it is a branch of, from the innermost one on.
void for_each_around(MachineState& state, const Fiber& innermost, auto visit) {
  for (FiberId at = innermost.id; at.number != FiberId::none;) {
    Fiber& fiber = state.fiber(at);
    if (!visit(fiber)) return;
    at = fiber.parent;
  }
}

/// The handlers in whose bodies the fiber is, and those that it is a branch of, the innermost first.
void for_each_handler(MachineState& state, const Fiber& innermost, auto visit) {
  for_each_around(state, innermost, [&](Fiber& fiber) {
    for (std::size_t frame = fiber.frames.size(); frame-- > 0;) {
      const std::vector<Handler>& handlers = function_of(state, fiber, frame).handlers;
      if (handlers.empty()) continue;
      for (const Region& region : regions_at(state, fiber, frame)) {
        if (region.handler == nullptr) continue;
        if (!visit(fiber, frame, static_cast<std::size_t>(region.handler - handlers.data()))) return false;
      }
    }
    return true;
  });
}

Trial* find_trial(Fiber& fiber, std::size_t frame, std::size_t handler) {
  const auto found = std::ranges::find_if(
      fiber.trials, [&](const Trial& trial) { return trial.frame == frame && trial.handler == handler; });
  return found == fiber.trials.end() ? nullptr : &*found;
}

/// A failure of what is in doubt would be the handler's, and another one's if that fails, too.
bool doubt_at(MachineState& state, Fiber& fiber, std::size_t frame, std::size_t handler, LabelId label) {
  if (Trial* const trial = find_trial(fiber, frame, handler)) {
    trial->doubt = state.labels.join(trial->doubt, label);
  }
  return facts_of(state, fiber, frame, handler).can_fail_again;
}

/// Drops those for which `is_over` holds, the newest first.
void drop(Fiber& fiber, auto is_over) {
  std::erase_if(fiber.trials, [&](const Trial& trial) {
    const bool has_frame = trial.frame < fiber.frames.size();
    if (has_frame && !is_over(trial)) return false;
    if (has_frame) --fiber.frames[trial.frame].open_regions;
    return true;
  });
}

/// One more thing that the trial has said. The first says one bit, and the more there are, the less each adds: that
/// one of n was the last takes as many bits as it takes to write n.
OpStatus charge(MachineState& state, const Fiber& fiber, Trial& trial) {
  trial.label = label_of(state, trial);
  trial.doubt = {};
  ++trial.shown;
  return std::has_single_bit(trial.shown) ? charge_bits(state, fiber, 1) : OpStatus::Ok;
}

}  // namespace

void begin_trials(MachineState& state, Fiber& fiber, std::uint32_t pc) {
  const auto frame = static_cast<std::uint32_t>(fiber.frames.size() - 1);
  const std::vector<Handler>& handlers = function_of(state, fiber, frame).handlers;
  std::vector<std::uint32_t> begun;
  for (std::uint32_t at = 0; at < handlers.size(); ++at) {
    if (handlers[at].begin != pc) continue;
    if (!facts_of(state, fiber, frame, at).is_watched) continue;
    // Control can come back to the beginning of a body.
    if (find_trial(fiber, frame, at) == nullptr) begun.push_back(at);
  }
  std::ranges::stable_sort(begun, std::greater(), [&](std::uint32_t at) { return handlers[at].end; });
  for (const std::uint32_t at : begun) {
    fiber.trials.push_back({frame, at, {}, {}, 0});
    ++fiber.frames[frame].open_regions;
  }
}

void end_trials(MachineState& state, Fiber& fiber, std::uint32_t pc) {
  const std::size_t frame = fiber.frames.size() - 1;
  const auto ends = [&](const Trial& one) { return one.frame == frame && region_of(state, fiber, one).end == pc; };
  if (std::ranges::none_of(fiber.trials, ends)) return;
  for (const Trial& trial : fiber.trials) {
    if (ends(trial)) raise_region(state, fiber, region_of(state, fiber, trial), label_of(state, trial));
  }
  drop(fiber, ends);
}

void leave_trials(MachineState& state, Fiber& fiber, Value& result) {
  const std::size_t frame = fiber.frames.size() - 1;
  for (const Trial& trial : fiber.trials) {
    if (trial.frame != frame) continue;
    raise_at_end(state, fiber, region_of(state, fiber, trial), label_of(state, trial), result);
  }
  drop(fiber, [&](const Trial& trial) { return trial.frame == frame; });
}

LabelId drop_trials(MachineState& state, Fiber& fiber, std::uint32_t begin, std::uint32_t end) {
  const auto is_left = [&](const Trial& trial) {
    if (trial.frame >= fiber.frames.size()) return true;
    const Handler& handler = handler_of(state, fiber, trial);
    return trial.frame + 1 == fiber.frames.size() && handler.begin >= begin && handler.end <= end;
  };
  LabelId label;
  for (const Trial& trial : fiber.trials) {
    if (is_left(trial)) label = state.labels.join(label, label_of(state, trial));
  }
  drop(fiber, is_left);
  return label;
}

void note_doubt(MachineState& state, const Fiber& fiber, LabelId label) {
  if (label == LabelTable::program_text || !may_be_trial(fiber)) return;
  for_each_handler(state, fiber, [&](Fiber& around, std::size_t frame, std::size_t handler) {
    return doubt_at(state, around, frame, handler, label);
  });
}

void note_doubt_of(MachineState& state, const Fiber& fiber, const Value& value) {
  if (may_be_trial(fiber)) note_doubt(state, fiber, whole_label(value, state.labels));
}

void note_spending(MachineState& state, const Fiber& fiber, LabelId label) {
  if (label == LabelTable::program_text) return;
  const ScopeId scope = fiber.frames.back().scope;
  label_spending(state, scope, label);
  if (!may_be_trial(fiber)) return;
  for (ScopeId at = scope; at != run_scope && at.index != ScopeId::none; at = state.scopes[at.index].parent) {
    for_each_handler(state, fiber, [&](Fiber& around, std::size_t frame, std::size_t handler) {
      const std::uint32_t kept = function_of(state, around, frame).handlers[handler].budget_depth;
      const bool takes = !encloses(state, at, restored_scope(state, around.frames[frame], kept));
      return !takes || doubt_at(state, around, frame, handler, label);
    });
  }
}

OpStatus charge_trials(MachineState& state, const Fiber& fiber) {
  OpStatus status = OpStatus::Ok;
  for_each_around(state, fiber, [&](Fiber& around) {
    for (Trial& trial : around.trials) {
      if (status == OpStatus::Ok && !is_trusted(state, trial.doubt)) status = charge(state, fiber, trial);
    }
    return status == OpStatus::Ok;
  });
  return status;
}

bool is_tried(MachineState& state, const Fiber& fiber) {
  bool is_charged = false;
  for_each_around(state, fiber, [&](const Fiber& around) {
    is_charged = is_charged || std::ranges::any_of(around.trials, [](const Trial& one) { return one.shown > 0; });
    return !is_charged;
  });
  return is_charged;
}

OpStatus charge_failed_trial(MachineState& state, Fiber& fiber, std::size_t frame, const Handler* handler,
                             const Value& failure) {
  const auto index = static_cast<std::size_t>(handler - function_of(state, fiber, frame).handlers.data());
  Trial* const taken = find_trial(fiber, frame, index);
  if (taken == nullptr) return OpStatus::Ok;
  const Tried tried = facts_of(state, fiber, frame, index).tried;
  if (tried == Tried::NoAction) return OpStatus::Ok;
  // A tool of a set that something untrusted has chosen makes no call that acts.
  const auto is_chosen = [&](const OpenRegion& open) {
    return open.frame == frame && open.decision == fiber.frames[frame].pc && !is_trusted(state, open.label);
  };
  if (tried == Tried::ToolOfASet && std::ranges::any_of(fiber.regions, is_chosen)) return OpStatus::Ok;
  // What fails whatever the data, fails in all of them, and no call comes after it.
  const LabelId failed = whole_label(failure, state.labels);
  if (is_trusted(state, failed)) return OpStatus::Ok;
  LabelId doubt = taken->doubt;
  for (const Trial& inner : std::span(taken + 1, std::to_address(fiber.trials.end()))) {
    doubt = state.labels.join(doubt, label_of(state, inner));
  }
  // Handlers within the budget that is spent were passed over.
  const bool is_spent = failure.fields()[0].case_index() == static_cast<std::uint32_t>(types::FailureKind::BudgetSpent);
  if (is_spent) doubt = state.labels.join(doubt, failed);
  return is_trusted(state, doubt) ? OpStatus::Ok : charge(state, fiber, *taken);
}

}  // namespace tenon::vm
