#include <algorithm>

#include "base/ensure.h"
#include "vm/execution/implicit_flows.h"
#include "vm/machine_state.h"
#include "vm/values/object.h"

namespace tenon::vm {
namespace {

using bytecode::Instruction;
using bytecode::Opcode;

Value* registers_of(Fiber& fiber) {
  return fiber.registers.data() + fiber.frames.back().base;
}

bool is_parallel_for(Instruction instruction) {
  return instruction.opcode == static_cast<std::uint16_t>(Opcode::ParallelFor);
}

/// The maximum number of branches of the fiber's block that may run at once.
std::uint64_t branches_at_once(Fiber& fiber, Instruction instruction) {
  if (!is_parallel_for(instruction)) return branches_per_block_max;
  return std::min(registers_of(fiber)[instruction.a + 1].bits(), branches_per_block_max);
}

void start_branch(MachineState& state, Fiber& parent, Instruction instruction) {
  const Frame& frame = parent.frames.back();
  auto branch = std::make_unique<Fiber>();
  branch->id = {state.next_fiber++};
  branch->parent = parent.id;
  branch->branch = parent.block.started++;
  branch->block_pc = frame.pc;
  branch->budget_floor = frame.open_budgets;
  branch->depth_base = parent.depth() - 1;
  branch->key = parent.key_of(parent.ordinal) + '.' + std::to_string(branch->branch);
  const std::uint32_t count = state.program->callables()[frame.function].register_count;
  branch->agent_state = parent.agent_state;
  branch->control = parent.control;
  branch->registers.reserve(count);
  const Value* const from = registers_of(parent);
  for (std::uint32_t i = 0; i < count; ++i) branch->registers.data()[i] = from[i];
  std::uint32_t pc = 0;
  if (is_parallel_for(instruction)) {
    Value item = from[instruction.a].items()[branch->branch];
    add_label(item, from[instruction.a].label(), state.labels);
    branch->registers.data()[instruction.a + 2] = std::move(item);
    pc = static_cast<std::uint32_t>(static_cast<std::int64_t>(frame.pc) + 1 + instruction.signed_wide());
  } else {
    pc = state.program->program().jump_tables[instruction.wide()].targets[branch->branch];
  }
  branch->frames.push_back({frame.function, pc, 0, frame.scope, frame.open_budgets});
  Fiber& started = *state.fibers.emplace(branch->id, std::move(branch)).first->second;
  // That the branch runs says how many items there are.
  if (is_parallel_for(instruction)) inherit_regions(state, started, from[instruction.a].label());
  make_ready(state, started);
}

void start_branches(MachineState& state, Fiber& parent, Instruction instruction) {
  Block& block = parent.block;
  const std::uint64_t at_once = branches_at_once(parent, instruction);
  while (block.started < block.values.size() && block.started - block.finished < at_once &&
         (block.started == block.finished || state.fibers.size() < fibers_max)) {
    start_branch(state, parent, instruction);
  }
}

void finish_block(MachineState& state, Fiber& fiber, Instruction instruction) {
  Block block = std::exchange(fiber.block, {});
  Value* const r = registers_of(fiber);
  if (is_parallel_for(instruction)) {
    const LabelId label = r[instruction.a].label();
    r[instruction.a] = Value::list(std::move(block.values));
    r[instruction.a].set_label(label);
  } else {
    for (std::size_t i = 0; i < block.values.size(); ++i) r[instruction.a + i] = std::move(block.values[i]);
  }
  ++fiber.frames.back().pc;
  make_ready(state, fiber);
}

}  // namespace

void make_ready(MachineState& state, Fiber& fiber) {
  fiber.state = FiberState::Ready;
  state.ready.push_back(fiber.id);
}

OpStatus start_block(MachineState& state, Fiber& fiber) {
  const Instruction instruction = instruction_of(state, fiber);
  const Value* const r = registers_of(fiber);
  std::size_t count = 0;
  if (is_parallel_for(instruction)) {
    if (r[instruction.a].tag() != Tag::List) return damage(state, "a list was expected");
    if (r[instruction.a + 1].tag() != Tag::Integer) return damage(state, "an integer was expected");
    if (r[instruction.a + 1].as_integer() < 1) {
      return fail(state, types::FailureKind::Conversion,
                  "parallel(" + std::to_string(r[instruction.a + 1].as_integer()) +
                      ") runs nothing: the number must be 1 or more",
                  r[instruction.a + 1].label());
    }
    count = r[instruction.a].items().size();
    note_branches(state, fiber, r[instruction.a].label());
  } else {
    count = state.program->program().jump_tables[instruction.wide()].targets.size();
  }
  // Each waiting block keeps a fiber; this one needs at least one more.
  if (state.fibers.size() >= fibers_max && count > 0) {
    return fail(state, types::FailureKind::Index,
                "more than " + std::to_string(fibers_max) + " branches would run at once");
  }
  fiber.state = FiberState::Joining;
  fiber.ordinal = fiber.next_ordinal++;
  fiber.block = {};
  fiber.block.values.resize(count);
  if (count == 0) {
    finish_block(state, fiber, instruction);
  } else {
    start_branches(state, fiber, instruction);
  }
  return OpStatus::Ok;
}

void finish_branch(MachineState& state, FiberId id, Value value) {
  Fiber& branch = state.fiber(id);
  Fiber& parent = state.fiber(branch.parent);
  close_all_scopes(state, branch);
  parent.block.values[branch.branch] = std::move(value);
  ++parent.block.finished;
  state.fibers.erase(id);
  if (parent.awaited.tag() != Tag::Unit) return finish_awaiting(state, parent.id);
  const Instruction instruction = instruction_of(state, parent);
  if (parent.block.finished == parent.block.values.size()) {
    finish_block(state, parent, instruction);
  } else {
    start_branches(state, parent, instruction);
  }
}

void cancel_branches(MachineState& state, Fiber& fiber) {
  // A branch is younger than its parent, so a single pass in the order of age finds all descendants.
  std::set<FiberId> family{fiber.id};
  std::vector<FiberId> ended;
  for (auto at = state.fibers.upper_bound(fiber.id); at != state.fibers.end(); ++at) {
    if (!family.contains(at->second->parent)) continue;
    family.insert(at->first);
    ended.push_back(at->first);
  }
  for (auto id = ended.rbegin(); id != ended.rend(); ++id) {
    Fiber& branch = state.fiber(*id);
    if (branch.state == FiberState::Requesting) {
      if (branch.is_request_taken) state.cancelled.push_back(branch.request);
      state.waiting.erase(branch.request);
      std::erase(state.untaken, branch.request);
    }
    close_all_scopes(state, branch);
    state.fibers.erase(*id);
  }
  family.erase(fiber.id);
  std::erase_if(state.ready, [&](FiberId id) { return family.contains(id); });
  fiber.block = {};
  fiber.state = FiberState::Ready;
}

}  // namespace tenon::vm
