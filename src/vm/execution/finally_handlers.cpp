#include "vm/execution/finally_handlers.h"

#include <algorithm>

#include "base/ensure.h"
#include "vm/execution/implicit_flows.h"
#include "vm/values/object.h"

namespace tenon::vm {
namespace {

using bytecode::FinallyHandler;
using bytecode::Handler;
using bytecode::is_shield;

/// The items of a kept failure.
enum : std::size_t { kept_failure, kept_scope, kept_is_cancel, kept_calls, kept_left_out, kept_count };
constexpr std::size_t numbers_per_call = 4;

/// The outermost block of a `finally` or `shield` that the fiber runs: everything it does belongs to that block.
std::optional<std::pair<std::size_t, const FinallyHandler*>> find_running(const MachineState& state,
                                                                          const Fiber& fiber) {
  for (std::size_t index = 0; index < fiber.frames.size(); ++index) {
    const std::vector<Region> regions = regions_at(state, fiber, index);
    for (auto region = regions.rbegin(); region != regions.rend(); ++region) {
      if (region->running != nullptr) return std::pair(index, region->running);
    }
  }
  return std::nullopt;
}

void drop_request(MachineState& state, Fiber& fiber) {
  if (fiber.state != FiberState::Requesting) return;
  if (fiber.is_request_taken) state.cancelled.push_back(fiber.request);
  state.waiting.erase(fiber.request);
  std::erase(state.untaken, fiber.request);
  fiber.state = FiberState::Ready;
}

/// Ends the fiber except for its `finally` blocks and a call that it waits for. False if it has neither.
bool wind_down(MachineState& state, Fiber& fiber, const PendingFailure& cancel) {
  // A running block continues, but only to its end.
  if (const auto running = find_running(state, fiber)) {
    const auto& [index, cleanup] = *running;
    fiber.registers.data()[fiber.frames[index].base + cleanup->kept] = keep_failure(cancel);
    return true;
  }
  if (fiber.state == FiberState::Joining) {
    const bool awaits = fiber.awaited.tag() != Tag::Unit;
    if (awaits || wind_branches(state, fiber)) {
      fiber.awaited = keep_failure(cancel);
      return true;
    }
  }
  if (awaits_once_call(state, fiber)) {
    if (fiber.awaited.tag() == Tag::Unit) state.awaited_calls.push_back(fiber.request);
    fiber.awaited = keep_failure(cancel);
    return true;
  }
  drop_request(state, fiber);
  std::erase(state.ready, fiber.id);
  PendingFailure pending = cancel;
  std::size_t first_listed = fiber.frames.size();
  const Found found = find_handler(state, fiber, pending, first_listed);
  if (found.cleanup == nullptr) return false;
  cut_back(state, fiber, found.frame, found.cleanup->budget_depth, found.cleanup->block + 1, pending.failure);
  enter_cleanup(state, fiber, *found.cleanup, pending);
  return true;
}

bool has_once_externs(const bytecode::Program& program) {
  return std::ranges::any_of(program.externs, [](const auto& callee) { return callee.call_options.is_once; });
}

PendingFailure make_cancel(std::string reason) {
  PendingFailure cancel;
  cancel.failure = Value::failure(types::FailureKind::Cancelled, std::move(reason), "", "");
  cancel.is_cancel = true;
  return cancel;
}

}  // namespace

bool has_finally_handlers(const bytecode::Program& program) {
  return std::ranges::any_of(program.functions,
                             [](const auto& function) { return !function.finally_handlers.empty(); });
}

bool awaits_once_call(const MachineState& state, const Fiber& fiber) {
  const bytecode::Program& program = state.program->program();
  if (!program.awaits_once_calls || fiber.state != FiberState::Requesting || !fiber.is_request_taken) return false;
  if (fiber.approval == Approval::Asked) return false;  // the call has not begun
  const bytecode::Instruction instruction = instruction_of(state, fiber);
  return instruction.opcode == static_cast<std::uint16_t>(bytecode::Opcode::CallExtern) &&
         program.externs[instruction.wide()].call_options.is_once;
}

std::vector<Region> regions_at(const MachineState& state, const Fiber& fiber, std::size_t index) {
  const Frame& frame = fiber.frames[index];
  const bytecode::Function& function = state.program->program().functions[frame.function];
  const bool is_branch = index == 0 && fiber.parent.number != FiberId::none;
  std::vector<Region> regions;
  const auto add = [&](Region region) {
    const auto holds = [&](std::uint32_t pc) { return pc >= region.begin && pc < region.end; };
    if (holds(frame.pc) && !(is_branch && holds(fiber.block_pc))) regions.push_back(region);
  };
  // Programs compiled by older versions have a handler here that does the same as `restore_caller_state`.
  if (!function.is_agent_run) {
    for (const Handler& handler : function.handlers) add({handler.begin, handler.end, &handler, nullptr, nullptr});
  }
  for (const FinallyHandler& cleanup : function.finally_handlers) {
    if (!is_shield(function, cleanup)) add({cleanup.begin, cleanup.block + 1, nullptr, &cleanup, nullptr});
    add({cleanup.block + 1, cleanup.end, nullptr, nullptr, &cleanup});
  }
  if (!function.finally_handlers.empty()) {
    std::ranges::stable_sort(regions, {}, [](const Region& region) { return region.end - region.begin; });
  }
  return regions;
}

Value keep_failure(const PendingFailure& pending) {
  std::vector<Value> calls;
  calls.reserve(pending.call_stack.entries.size() * numbers_per_call);
  for (const CallStackEntry& entry : pending.call_stack.entries) {
    for (const std::uint32_t number : {entry.function, entry.place.file, entry.place.line, entry.place.column}) {
      calls.push_back(Value::integer(number));
    }
  }
  std::vector<Value> items(kept_count);
  items[kept_failure] = pending.failure;
  items[kept_scope] = Value::integer(pending.scope.index);
  items[kept_is_cancel] = Value::boolean(pending.is_cancel);
  items[kept_calls] = Value::list(std::move(calls));
  items[kept_left_out] = Value::integer(static_cast<std::int64_t>(pending.call_stack.entries_left_out));
  return Value::list(std::move(items));
}

std::optional<PendingFailure> read_failure(const Value& kept, const LoadedProgram& program) {
  if (kept.tag() != Tag::List || kept.items().size() != kept_count) return std::nullopt;
  const auto items = kept.items();
  const bool fits = is_failure(items[kept_failure]) && items[kept_scope].tag() == Tag::Integer &&
                    items[kept_is_cancel].tag() == Tag::Boolean && items[kept_calls].tag() == Tag::List &&
                    items[kept_left_out].tag() == Tag::Integer;
  if (!fits) return std::nullopt;
  const auto calls = items[kept_calls].items();
  if (calls.size() % numbers_per_call != 0 || calls.size() / numbers_per_call > call_stack_entries_max) {
    return std::nullopt;
  }
  PendingFailure pending;
  pending.failure = items[kept_failure];
  pending.scope.index = static_cast<std::uint32_t>(items[kept_scope].bits());
  pending.is_cancel = items[kept_is_cancel].bits() != 0;
  pending.has_newest_frame = true;
  pending.call_stack.entries_left_out = items[kept_left_out].bits();
  for (std::size_t at = 0; at < calls.size(); at += numbers_per_call) {
    const auto number = [&](std::size_t which) { return static_cast<std::uint32_t>(calls[at + which].bits()); };
    for (std::size_t which = 0; which < numbers_per_call; ++which) {
      if (calls[at + which].tag() != Tag::Integer) return std::nullopt;
    }
    if (number(0) >= program.program().functions.size() || number(1) >= program.program().sources.size()) {
      return std::nullopt;
    }
    pending.call_stack.entries.push_back({number(0), {number(1), number(2), number(3)}});
  }
  return pending;
}

void enter_cleanup(MachineState& state, Fiber& fiber, const FinallyHandler& cleanup, const PendingFailure& pending) {
  const bytecode::Function& function = state.program->program().functions[fiber.frames.back().function];
  const auto index = static_cast<std::size_t>(&cleanup - function.finally_handlers.data());
  open_failure_region(state, fiber, bytecode::decision_of_cleanup(function, index), pending.failure.label(),
                      cleanup.begin, cleanup.block + 1);
  open_cleanup(state, fiber);
  fiber.registers.data()[fiber.frames.back().base + cleanup.kept] = keep_failure(pending);
  make_ready(state, fiber);
}

bool wind_branches(MachineState& state, Fiber& fiber) {
  const bytecode::Program& program = state.program->program();
  if (!has_finally_handlers(program) && !(program.awaits_once_calls && has_once_externs(program))) {
    cancel_branches(state, fiber);
    return false;
  }
  std::vector<FiberId> branches;
  for (auto at = state.fibers.upper_bound(fiber.id); at != state.fibers.end(); ++at) {
    if (at->second->parent == fiber.id) branches.push_back(at->first);
  }
  const PendingFailure cancel = make_cancel("another branch has failed");
  bool waits = false;
  for (const FiberId id : branches) {
    if (wind_down(state, state.fiber(id), cancel)) {
      waits = true;
    } else {
      end_branch(state, id);
    }
  }
  if (waits) return true;
  fiber.block = {};
  fiber.state = FiberState::Ready;
  return false;
}

void end_branch(MachineState& state, FiberId id) {
  Fiber& branch = state.fiber(id);
  ++state.fiber(branch.parent).block.finished;
  drop_request(state, branch);
  std::erase(state.ready, id);
  close_all_scopes(state, branch);
  state.fibers.erase(id);
}

void finish_awaiting(MachineState& state, FiberId id) {
  Fiber& fiber = state.fiber(id);
  if (fiber.block.finished < fiber.block.started) return;
  auto pending = read_failure(std::exchange(fiber.awaited, {}), *state.program);
  ENSURE(pending.has_value());
  fiber.block = {};
  fiber.state = FiberState::Ready;
  carry(state, id, std::move(*pending));
}

bool has_cleanup(const MachineState& state) {
  if (!has_finally_handlers(state.program->program())) return false;
  for (const auto& [id, fiber] : state.fibers) {
    for (std::size_t index = 0; index < fiber->frames.size(); ++index) {
      const std::vector<Region> regions = regions_at(state, *fiber, index);
      if (std::any_of(regions.begin(), regions.end(), [](const Region& one) { return one.handler == nullptr; })) {
        return true;
      }
    }
  }
  return false;
}

void cancel_run(MachineState& state, std::string reason) {
  Fiber& first = state.fiber(FiberId{0});
  const PendingFailure cancel = make_cancel(std::move(reason));
  if (wind_down(state, first, cancel)) return;
  carry(state, first.id, cancel);
}

}  // namespace tenon::vm
