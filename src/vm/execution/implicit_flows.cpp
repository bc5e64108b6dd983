#include "vm/execution/implicit_flows.h"

#include <algorithm>

#include "bytecode/left_regions.h"
#include "vm/execution/trials.h"
#include "vm/values/object.h"

namespace tenon::vm {
namespace {

using bytecode::ControlRegion;
using bytecode::Decision;

std::uint32_t newest_frame(const Fiber& fiber) {
  return static_cast<std::uint32_t>(fiber.frames.size() - 1);
}

/// A text's spans keep their labels: a loop would copy it each time. What is made of it has the label of the whole.
void raise_by_control(MachineState& state, Value& value, LabelId label) {
  value.set_label(state.labels.join(value.label(), label));
}

/// That someone may be asked, or not, depends on what has this label.
void raise_questions(MachineState& state, const Fiber& fiber, LabelId label) {
  if (place_among_agents(state, fiber).depth == 0) state.questions = state.labels.join(state.questions, label);
}

void raise_state(MachineState& state, Fiber& fiber, const bytecode::StateWrites& writes, LabelId label) {
  if (writes.is_empty()) return;
  if (writes.hands_off) raise_by_control(state, fiber.kept_states, label);
  if (writes.asks) raise_questions(state, fiber, label);
  if (!writes.all && writes.entries.empty()) return;
  if (writes.all || fiber.agent_state.tag() != Tag::Record) return raise_by_control(state, fiber.agent_state, label);
  FieldsObject& entries = own_fields(fiber.agent_state);
  for (const std::uint16_t entry : writes.entries) {
    if (entry < entries.count) raise_by_control(state, entries.data()[entry], label);
  }
}

const ControlRegion& region_of(const MachineState& state, const Fiber& fiber, const OpenRegion& open) {
  return state.program->control_regions().region(fiber.frames[open.frame].function, open.decision);
}

/// Drops the regions for which `is_over` holds; `fiber.control` is then what the others say.
void drop_regions(MachineState& state, Fiber& fiber, auto is_over) {
  for (const OpenRegion& open : fiber.regions) {
    if (open.frame < fiber.frames.size() && is_over(open)) --fiber.frames[open.frame].open_regions;
  }
  std::erase_if(fiber.regions,
                [&](const OpenRegion& open) { return open.frame >= fiber.frames.size() || is_over(open); });
  fiber.control = control_of(state, fiber);
}

void open(MachineState& state, Fiber& fiber, Decision decision, LabelId by) {
  const std::uint32_t frame = newest_frame(fiber);
  const auto same = std::ranges::find_if(
      fiber.regions, [&](const OpenRegion& one) { return one.frame == frame && one.decision == decision; });
  if (same != fiber.regions.end()) {
    same->label = state.labels.join(same->label, by);
  } else {
    fiber.regions.push_back({frame, decision, by});
    ++fiber.frames.back().open_regions;
  }
  fiber.control = state.labels.join(fiber.control, by);
  note_spending(state, fiber, by);
  if (state.program->control_regions().region(fiber.frames.back().function, decision).can_fail) {
    note_doubt(state, fiber, by);
  }
}

}  // namespace

const bytecode::Instruction* code_of(const MachineState& state, const Fiber& fiber) {
  const Frame& frame = fiber.frames.back();
  return frame.open_regions == 0 ? state.program->callables()[frame.function].code
                                 : state.program->control_regions().marked_code(frame.function);
}

void raise_region(MachineState& state, Fiber& fiber, const ControlRegion& region, LabelId label) {
  if (label == LabelTable::program_text) return;
  Value* const r = fiber.registers.data() + fiber.frames.back().base;
  for (const std::uint16_t written : region.registers) raise_by_control(state, r[written], label);
  raise_state(state, fiber, region.state, label);
}

void raise_at_end(MachineState& state, Fiber& fiber, const ControlRegion& region, LabelId label, Value& result) {
  if (label == LabelTable::program_text) return;
  raise_by_control(state, result, label);
  raise_state(state, fiber, region.state, label);
}

const bytecode::Instruction* open_region(MachineState& state, Fiber& fiber, std::uint32_t pc, LabelId by) {
  // In a region with this label already, as in a loop, there is nothing to add.
  if (state.labels.join(fiber.control, by) != fiber.control) open(state, fiber, pc, by);
  return code_of(state, fiber);
}

const bytecode::Instruction* end_regions(MachineState& state, Fiber& fiber, std::uint32_t pc) {
  const std::uint32_t frame = newest_frame(fiber);
  const auto ends = [&](const OpenRegion& one) { return one.frame == frame && region_of(state, fiber, one).end == pc; };
  bool has_ended = false;
  for (const OpenRegion& one : fiber.regions) {
    if (!ends(one)) continue;
    has_ended = true;
    raise_region(state, fiber, region_of(state, fiber, one), one.label);
  }
  if (has_ended) drop_regions(state, fiber, ends);
  if (!fiber.trials.empty()) end_trials(state, fiber, pc);
  return code_of(state, fiber);
}

void leave_regions(MachineState& state, Fiber& fiber, Value& result) {
  const std::uint32_t frame = newest_frame(fiber);
  const bool is_branch = frame == 0 && fiber.parent.number != FiberId::none;
  for (const OpenRegion& one : fiber.regions) {
    if (one.frame != frame) continue;
    if (is_branch && one.decision == bytecode::whole_function) {
      // The branch is a part of the function, and its agent's state ends with it. For what it asks, see note_branches.
      raise_by_control(state, result, one.label);
    } else {
      raise_at_end(state, fiber, region_of(state, fiber, one), one.label, result);
    }
  }
  drop_regions(state, fiber, [&](const OpenRegion& one) { return one.frame == frame; });
  if (!fiber.trials.empty()) leave_trials(state, fiber, result);
}

void open_failure_region(MachineState& state, Fiber& fiber, Decision decision, LabelId by, std::uint32_t begin,
                         std::uint32_t end) {
  const std::uint32_t frame = newest_frame(fiber);
  const bytecode::Function& function = state.program->program().functions[fiber.frames.back().function];
  if (!fiber.trials.empty()) {
    const LabelId left = drop_trials(state, fiber, begin, end);
    if (decision < bytecode::decision_of_cleanup(function, 0)) {
      by = state.labels.join(by, left);
    } else {
      note_doubt(state, fiber, left);  // the failure continues to the trials around the `finally`
    }
  }
  drop_regions(state, fiber, [&](const OpenRegion& one) {
    if (one.frame != frame) return false;
    return bytecode::is_left_with(function, one.decision, region_of(state, fiber, one).end, begin, end);
  });
  if (by != LabelTable::program_text) open(state, fiber, decision, by);
}

void inherit_regions(MachineState& state, Fiber& fiber, LabelId by) {
  const auto is_replaced = [&](const auto& open) { return open.frame >= newest_frame(fiber); };
  for (const OpenRegion& open : fiber.regions) {
    if (is_replaced(open)) by = state.labels.join(by, open.label);
  }
  for (const Trial& trial : fiber.trials) {
    if (is_replaced(trial)) by = state.labels.join(by, state.labels.join(trial.label, trial.doubt));
  }
  std::erase_if(fiber.regions, is_replaced);
  std::erase_if(fiber.trials, is_replaced);
  if (by != LabelTable::program_text) open(state, fiber, bytecode::whole_function, by);
}

void note_question(MachineState& state, const Fiber& fiber) {
  if (fiber.control != LabelTable::program_text) raise_questions(state, fiber, fiber.control);
}

void note_branches(MachineState& state, const Fiber& fiber, LabelId list) {
  if (list == LabelTable::program_text) return;
  const Frame& frame = fiber.frames.back();
  if (state.program->control_regions().branches_ask(frame.function, frame.pc)) raise_questions(state, fiber, list);
}

void note_failed_run(MachineState& state, const Fiber& fiber, LabelId label) {
  if (label == LabelTable::program_text) return;
  if (!state.program->control_regions().asks(fiber.frames.front().function)) return;
  state.questions = state.labels.join(state.questions, label);
}

LabelId control_of(MachineState& state, const Fiber& fiber) {
  LabelId control;
  if (fiber.parent.number != FiberId::none) control = state.fiber(fiber.parent).control;
  for (const OpenRegion& open : fiber.regions) control = state.labels.join(control, open.label);
  return control;
}

}  // namespace tenon::vm
