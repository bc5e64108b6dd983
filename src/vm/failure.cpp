#include "vm/failure.h"

#include <algorithm>

#include "base/ensure.h"
#include "vm/execution/finally_handlers.h"
#include "vm/execution/implicit_flows.h"
#include "vm/execution/trials.h"
#include "vm/machine_state.h"
#include "vm/messages.h"
#include "vm/values/object.h"
#include "vm/values/text.h"

namespace tenon::vm {
namespace {

/// The caller of an agent has its own state again when the agent's frame ends, and the states that were kept for it;
/// they are in the registers of the frame's first instructions.
void restore_caller_state(const MachineState& state, Fiber& fiber, const Frame& frame) {
  if (!state.program->program().functions[frame.function].is_agent_run || frame.pc == 0) return;
  const bytecode::Instruction first = state.program->code_of(frame.function)[0];
  if (first.opcode != static_cast<std::uint16_t>(bytecode::Opcode::TakeState)) return;
  fiber.agent_state = fiber.registers.data()[frame.base + first.a];
  if (frame.pc <= 1) return;
  const bytecode::Instruction second = state.program->code_of(frame.function)[1];
  if (second.opcode != static_cast<std::uint16_t>(bytecode::Opcode::TakeKept)) return;
  fiber.kept_states = fiber.registers.data()[frame.base + second.a];
}

void enter_handler(MachineState& state, Fiber& fiber, const Found& found, Value failure) {
  const bytecode::Handler& handler = *found.handler;
  cut_back(state, fiber, found.frame, handler.budget_depth, handler.target, failure);
  const bytecode::Function& function = state.program->program().functions[fiber.frames.back().function];
  const auto index = static_cast<std::size_t>(&handler - function.handlers.data());
  open_failure_region(state, fiber, bytecode::decision_of_handler(function, index), whole_label(failure, state.labels),
                      handler.begin, handler.end);
  fiber.registers.data()[fiber.frames.back().base + found.handler->failure] = std::move(failure);
  make_ready(state, fiber);
}

std::string text_field(const Value& record, std::size_t index) {
  return std::string(record.fields()[index].as_text());
}

bool is_tool_function(const bytecode::Program& program, std::uint32_t function) {
  return std::ranges::any_of(program.tools, [&](const bytecode::Tool& tool) {
    return tool.function == function || tool.function_in_parts == function;
  });
}

/// Whether the function is not written in the program: it only passes a call on.
bool is_generated(const bytecode::Program& program, std::uint32_t function) {
  return is_tool_function(program, function) || std::ranges::any_of(program.agents, [&](const bytecode::Agent& agent) {
           return agent.run == function || agent.take_over == function;
         });
}

/// That it fails says what decided that it does: the failure has the label of that, too.
PendingFailure take_cause(MachineState& state, const Fiber& fiber) {
  MachineState::Cause cause = std::exchange(state.cause, {});
  if (cause.again) {
    add_label(cause.again->failure, fiber.control, state.labels);
    return std::move(*cause.again);
  }
  if (cause.raised.tag() != Tag::Unit) {
    add_label(cause.raised, fiber.control, state.labels);
    return {std::move(cause.raised), {}, {}, false, false};
  }
  const Frame& frame = fiber.frames.back();
  const bytecode::Place place = cause.place ? *cause.place : state.program->place_of(frame.function, frame.pc);
  Value record =
      Value::failure(cause.kind, std::move(cause.message), state.program->describe(place), std::move(cause.blame));
  record.set_label(state.labels.join(cause.label, fiber.control));
  return {std::move(record), cause.scope, {}, false, false};
}

}  // namespace

OpStatus fail(MachineState& state, types::FailureKind kind, std::string message, LabelId label, std::string blame) {
  state.cause = {kind, std::move(message), std::move(blame), label, {}, {}, std::nullopt, std::nullopt, false};
  return OpStatus::Failed;
}

OpStatus break_requires(MachineState& state, const Fiber& fiber, const Value& message, const Value& blame) {
  if (message.tag() != Tag::String || blame.tag() != Tag::String) return damage(state, "a text was expected");
  const bytecode::Program& program = state.program->program();
  bool is_tool = false;
  std::string caller = "a call";
  std::optional<bytecode::Place> place;
  for (std::size_t index = fiber.frames.size() - 1; index-- > 0;) {
    const Frame& frame = fiber.frames[index];
    if (is_tool_function(program, frame.function)) is_tool = true;
    if (is_generated(program, frame.function)) continue;
    const std::string name = "`" + program.functions[frame.function].name + "`";
    caller = is_tool ? "a call of a tool in " + name : name;
    place = state.program->place_of(frame.function, frame.pc);
    break;
  }
  static_cast<void>(fail(state, types::FailureKind::ContractBroken, caller + " " + std::string(message.as_text()),
                         message.label(), std::string(blame.as_text())));
  state.cause.place = place;
  return OpStatus::Failed;
}

OpStatus fail_budget(MachineState& state, ScopeId scope, std::string_view name, std::uint64_t amount,
                     std::string_view unit, std::string_view units) {
  const std::string key(name);
  const std::string of = budget_amount(state.program->program(), amount, unit, units);
  const BudgetScope& spent = state.scopes[scope.index];
  const LabelId label = spent.kind == ScopeKind::Allowance ? state.allowance.label : spent.label;
  std::string message = "the budget of " + of;
  if (spent.kind != ScopeKind::Budget) {
    message = std::string(messages_of(state.program->program()).finally_budget) + of + " in all, and these are used up";
  } else if (spent.budget == UINT32_MAX && name == "bits") {
    message += " of the run is spent; say with `budget(bits: …)` how much narrow answers may say";
  } else if (spent.budget == UINT32_MAX) {
    message += " of the run is spent; raise it with `--budget " + key +
               "=…`, or bound what is called here with `budget(" + key + ": …)`";
  } else {
    message += " set at " + state.program->describe(state.program->program().budgets[spent.budget].place) +
               " is spent; raise its `" + key + "`";
  }
  static_cast<void>(fail(state, types::FailureKind::BudgetSpent, std::move(message), label, "budget " + key));
  state.cause.scope = scope;
  return OpStatus::Failed;
}

bool is_failure(const Value& value) {
  if (value.tag() != Tag::Record || value.type() != types::TypeTable::failure) return false;
  const auto fields = value.fields();
  return fields.size() == 4 && fields[0].tag() == Tag::Case && fields[0].type() == types::TypeTable::failure_kind &&
         fields[1].tag() == Tag::String && fields[2].tag() == Tag::String && fields[3].tag() == Tag::String;
}

OpStatus damage(MachineState& state, std::string message) {
  state.damage = std::move(message);
  return OpStatus::Corrupt;
}

CallStack call_stack_of(const MachineState& state, const Fiber& fiber) {
  CallStack stack;
  append_calls(stack, state, fiber, fiber.frames.size());
  // A parent's newest frame is its branch's first one, which has the current position.
  for (FiberId at = fiber.parent; at.number != FiberId::none; at = state.fibers.at(at)->parent) {
    append_calls(stack, state, *state.fibers.at(at), state.fibers.at(at)->frames.size() - 1);
  }
  return stack;
}

void end_run(MachineState& state, Step end) {
  state.end = std::move(end);
  for (const auto& [request, id] : state.waiting) {
    if (state.fibers.at(id)->is_request_taken) state.cancelled.push_back(request);
  }
  if (const auto root = state.fibers.find(FiberId{0}); root != state.fibers.end()) {
    state.agent_state_at_end = std::move(root->second->agent_state);
    state.kept_states_at_end = std::move(root->second->kept_states);
  }
  state.fibers.clear();
  state.ready.clear();
  state.waiting.clear();
  state.untaken.clear();
}

void end_damaged(MachineState& state, const Fiber& fiber) {
  const Frame& frame = fiber.frames.back();
  const std::string place = state.program->describe(state.program->place_of(frame.function, frame.pc));
  end_run(state, Damaged{std::exchange(state.damage, {}), place});
}

void unwind(MachineState& state, FiberId id) {
  const Fiber& fiber = state.fiber(id);
  const bool is_outcome = state.cause.is_outcome;
  PendingFailure pending = take_cause(state, fiber);
  if (!is_outcome) note_doubt_of(state, fiber, pending.failure);
  carry(state, id, std::move(pending));
}

OpStatus fail_again(MachineState& state, const Value& kept) {
  auto pending = read_failure(kept, *state.program);
  if (!pending) return damage(state, "a failure was expected");
  state.cause = {};
  state.cause.again = std::move(pending);
  return OpStatus::Failed;
}

void carry(MachineState& state, FiberId id, PendingFailure pending) {
  for (;;) {
    Fiber& fiber = state.fiber(id);
    if (fiber.state == FiberState::Joining && wind_branches(state, fiber)) {
      fiber.awaited = keep_failure(pending);
      return;
    }
    std::size_t first_listed = fiber.frames.size() - (pending.has_newest_frame ? 1 : 0);
    const Found found = find_handler(state, fiber, pending, first_listed);
    if (found.handler != nullptr) {
      if (charge_failed_trial(state, fiber, found.frame, found.handler, pending.failure) == OpStatus::Failed) {
        pending = take_cause(state, fiber);
        continue;
      }
      enter_handler(state, fiber, found, std::move(pending.failure));
      return;
    }
    if (found.cleanup != nullptr) {
      append_calls(pending.call_stack, state, fiber, first_listed, found.frame);
      const bytecode::FinallyHandler& cleanup = *found.cleanup;
      cut_back(state, fiber, found.frame, cleanup.budget_depth, cleanup.block + 1, pending.failure);
      enter_cleanup(state, fiber, cleanup, pending);
      return;
    }
    append_calls(pending.call_stack, state, fiber, first_listed);
    for (auto frame = fiber.frames.rbegin(); frame != fiber.frames.rend(); ++frame) {
      restore_caller_state(state, fiber, *frame);
    }
    if (state.observer != nullptr) {
      for (auto frame = fiber.frames.rbegin(); frame != fiber.frames.rend(); ++frame) {
        state.observer->on_unwind(fiber.key, frame->function, pending.failure);
      }
    }
    if (fiber.parent.number == FiberId::none) {
      const Value& record = pending.failure;
      FailureReport report;
      report.kind = static_cast<types::FailureKind>(record.fields()[0].case_index());
      report.message = text_field(record, 1);
      report.place = text_field(record, 2);
      report.blame = text_field(record, 3);
      report.label = whole_label(record, state.labels);
      note_failed_run(state, fiber, report.label);
      report.call_stack = std::move(pending.call_stack);
      end_run(state, Failed{std::move(report)});
      return;
    }
    const FiberId parent = fiber.parent;
    end_branch(state, id);
    // Its block waits for its branches already, with another failure.
    if (state.fiber(parent).awaited.tag() != Tag::Unit) return finish_awaiting(state, parent);
    pending.has_newest_frame = true;
    id = parent;
  }
}

void cut_back(MachineState& state, Fiber& fiber, std::size_t index, std::uint32_t budget_depth, std::uint32_t pc,
              const Value& failure) {
  const auto& callables = state.program->callables();
  const Frame& newest = fiber.frames.back();
  const std::size_t used = newest.base + callables[newest.function].register_count;
  while (fiber.frames.size() > index + 1) {
    if (state.observer != nullptr) state.observer->on_unwind(fiber.key, fiber.frames.back().function, failure);
    while (fiber.frames.back().open_budgets > 0) close_scope(state, fiber);
    restore_caller_state(state, fiber, fiber.frames.back());
    fiber.frames.pop_back();
  }
  Frame& frame = fiber.frames.back();
  const std::uint32_t floor = index == 0 ? fiber.budget_floor : 0;
  while (frame.open_budgets > std::max(budget_depth, floor)) close_scope(state, fiber);
  Value* const registers = fiber.registers.data();
  for (std::size_t i = frame.base + callables[frame.function].register_count; i < used; ++i) registers[i] = Value();
  frame.pc = pc;
  fiber.approval = Approval::None;  // of a call that is not made any more
}

Found find_handler(const MachineState& state, const Fiber& fiber, PendingFailure& pending, std::size_t& first_listed) {
  for (std::size_t index = fiber.frames.size(); index-- > 0;) {
    const Frame& frame = fiber.frames[index];
    const bytecode::Function& function = state.program->program().functions[frame.function];
    if (function.handlers.empty() && function.finally_handlers.empty()) continue;
    for (const Region& region : regions_at(state, fiber, index)) {
      if (region.guard != nullptr) return {index, nullptr, region.guard};
      if (region.running != nullptr) {
        const Value& kept = fiber.registers.data()[frame.base + region.running->kept];
        if (auto first = read_failure(kept, *state.program)) {
          pending = std::move(*first);
          first_listed = index;
        }
        continue;
      }
      if (pending.is_cancel) continue;
      if (pending.scope.index != ScopeId::none &&
          encloses(state, pending.scope, restored_scope(state, frame, region.handler->budget_depth))) {
        continue;
      }
      return {index, region.handler, nullptr};
    }
  }
  return {};
}

/// Adds the fiber's calls from the frame before `end` down to `begin`.
void append_calls(CallStack& stack, const MachineState& state, const Fiber& fiber, std::size_t end, std::size_t begin) {
  for (std::size_t index = end; index-- > begin;) {
    const Frame& frame = fiber.frames[index];
    if (stack.entries.size() >= call_stack_entries_max) {
      ++stack.entries_left_out;
    } else {
      stack.entries.push_back({frame.function, state.program->place_of(frame.function, frame.pc)});
    }
  }
}

}  // namespace tenon::vm
