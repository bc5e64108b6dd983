#include "vm/execution/agent_prompts.h"

#include <algorithm>
#include <initializer_list>

#include "types/table/type_parts.h"
#include "vm/execution/finally_handlers.h"
#include "vm/execution/implicit_flows.h"
#include "vm/messages.h"

namespace tenon::vm {
namespace {

using bytecode::Agent;
using bytecode::Function;
using bytecode::Program;
using types::FailureKind;
using types::TypeId;
using types::TypeKind;
using types::TypeTable;

std::string join(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) text += part;
  return text;
}

OpStatus refuse(MachineState& state, const bytecode::Extern& callee, const std::string& why) {
  return fail(state, FailureKind::ToolFailed, "`" + callee.name + "` " + why, {}, callee.name);
}

/// Pushes a frame of the function; all its registers except the arguments are ().
void push_frame(MachineState& state, Fiber& fiber, std::uint32_t function, std::uint32_t base, ScopeId scope,
                std::vector<Value> arguments) {
  const Callable& callable = state.program->callables()[function];
  fiber.registers.reserve(std::size_t{base} + callable.register_count);
  Value* const r = fiber.registers.data() + base;
  for (std::size_t i = 0; i < callable.register_count; ++i) {
    r[i] = i < arguments.size() ? std::move(arguments[i]) : Value();
  }
  fiber.frames.push_back({function, 0, base, scope, 0});
  if (state.observer != nullptr) {
    state.observer->on_call(fiber.key, function, {r, callable.parameter_count});
  }
  make_ready(state, fiber);
}

/// Fails if the function's registers would exceed the limit of a branch.
OpStatus check_room(MachineState& state, std::uint32_t function, std::uint32_t base) {
  if (std::size_t{base} + state.program->callables()[function].register_count <= registers_max) return OpStatus::Ok;
  return fail_budget(state, run_scope, "registers", registers_max, "registers");
}

/// Clears the registers from `first` up to the end of the newest frame.
void clear_from(const MachineState& state, Fiber& fiber, std::size_t first) {
  const Frame& newest = fiber.frames.back();
  const std::size_t end = newest.base + state.program->callables()[newest.function].register_count;
  for (std::size_t i = first; i < end; ++i) fiber.registers.data()[i] = Value();
}

OpStatus call_agent(MachineState& state, Fiber& fiber, const bytecode::Extern& callee, SpawnedTurn prompted,
                    LabelId by) {
  const Program& program = state.program->program();
  const Messages& messages = messages_of(program);
  const Agent& agent = program.agents[prompted.agent];
  const TypeId given = program.functions[agent.run].result;
  if (!may_stand_for(program.types, given, callee.result)) {
    return refuse(state, callee,
                  join({"prompts `", agent.name, messages.prompted_agent_returns, program.types.describe(given),
                        messages.declared_to_return, program.types.describe(callee.result)}));
  }
  const Frame& frame = fiber.frames.back();
  const std::uint32_t base = frame.base + state.program->code_of(frame.function)[frame.pc].a;
  const std::uint64_t depth = fiber.depth() + 1;
  if (depth > depth_limit(state, frame.scope)) return fail_depth(state, frame.scope, depth);
  if (const OpStatus status = check_room(state, agent.run, base); status != OpStatus::Ok) return status;
  clear_from(state, fiber, base);
  std::vector<Value> arguments;
  arguments.push_back(std::move(prompted.input));
  push_frame(state, fiber, agent.run, base, frame.scope, std::move(arguments));
  inherit_regions(state, fiber, by);
  return OpStatus::Ok;
}

bool takes_over(const Program& program, std::uint32_t function) {
  const std::uint32_t agent = program.functions[function].agent;
  return agent != UINT32_MAX && program.agents[agent].take_over == function;
}

/// The index of the newest frame that is an agent's turn or replaces one; none if this branch does not contain one.
std::optional<std::size_t> find_turn(const Program& program, const Fiber& fiber) {
  const bool is_branch = fiber.parent.number != FiberId::none;
  // The first frame of a branch is the one that contains the block.
  const std::size_t floor = is_branch ? 1 : 0;
  for (std::size_t at = fiber.frames.size(); at-- > floor;) {
    if (!is_turn(program, fiber.frames[at].function)) continue;
    // A turn that was handed off ends completely, so that repeated handoffs do not need more and more space.
    // Both frames have their context in the same register.
    return at > floor && takes_over(program, fiber.frames[at - 1].function) ? at - 1 : at;
  }
  return std::nullopt;
}

bool is_in_turn(const MachineState& state, const Fiber& innermost) {
  const Program& program = state.program->program();
  for (const Fiber* fiber = &innermost;;) {
    const bool has_turn = std::any_of(fiber->frames.begin(), fiber->frames.end(),
                                      [&](const Frame& frame) { return is_turn(program, frame.function); });
    if (has_turn) return true;
    if (fiber->parent.number == FiberId::none) return false;
    fiber = state.fibers.at(fiber->parent).get();
  }
}

OpStatus finish_turn(MachineState& state, Fiber& fiber, const bytecode::Extern& callee, SpawnedTurn prompted,
                     LabelId by) {
  const Program& program = state.program->program();
  const Messages& messages = messages_of(program);
  const Agent& agent = program.agents[prompted.agent];
  const auto turn = find_turn(program, fiber);
  if (!turn) {
    return refuse(state, callee,
                  join({messages.hands_off, agent.name, messages.hands_off_where,
                        is_in_turn(state, fiber) ? "no parallel branch can leave the turn around it"
                                                 : "was called where no agent has a turn"}));
  }
  const Function& left = program.functions[fiber.frames[*turn].function];
  if (program.functions[agent.take_over].result != left.result) {
    return refuse(state, callee,
                  join({messages.hands_off, agent.name, messages.next_agent_returns,
                        program.types.describe(program.functions[agent.take_over].result), messages.turn_returns,
                        program.types.describe(left.result)}));
  }
  for (std::size_t at = *turn; at < fiber.frames.size(); ++at) {
    const Frame& frame = fiber.frames[at];
    // Nothing is lost of a `shield` block that is not cancelled.
    const auto is_to_end = [&](const Region& one) {
      if (one.handler != nullptr) return false;
      if (one.running == nullptr || !bytecode::is_shield(program.functions[frame.function], *one.running)) return true;
      return fiber.registers.data()[frame.base + one.running->kept].tag() != Tag::Unit;
    };
    if (std::ranges::any_of(regions_at(state, fiber, at), is_to_end)) {
      return refuse(state, callee,
                    join({messages.hands_off, agent.name, messages.finally_between, agent.name,
                          "::handoff(…)` in the turn instead"}));
    }
  }
  const std::uint32_t base = fiber.frames[*turn].base;
  if (const OpStatus status = check_room(state, agent.take_over, base); status != OpStatus::Ok) return status;
  Value context = fiber.registers.data()[base];
  if (context.tag() != Tag::Context) return damage(state, "a context was expected");
  clear_from(state, fiber, base);
  ScopeId scope;
  while (fiber.frames.size() > *turn) {
    if (state.observer != nullptr) state.observer->on_abandon(fiber.key, fiber.frames.back().function);
    while (fiber.frames.back().open_budgets > 0) close_scope(state, fiber);
    scope = fiber.frames.back().scope;
    fiber.frames.pop_back();
  }
  std::vector<Value> arguments;
  arguments.push_back(std::move(context));
  arguments.push_back(std::move(prompted.input));
  // The frame replaces that of the turn, so it always fits.
  push_frame(state, fiber, agent.take_over, base, scope, std::move(arguments));
  inherit_regions(state, fiber, by);
  return OpStatus::Ok;
}

}  // namespace

bool may_stand_for(const TypeTable& types, TypeId given, TypeId wanted) {
  if (given == wanted) return true;
  const TypeId base = types.base(given);
  if (wanted == TypeTable::string) return types::is_text(types, given);
  if (wanted == TypeTable::i64 && types.kind(base) == TypeKind::Union) return !types::is_text(types, given);
  return base == wanted;
}

bool is_turn(const Program& program, std::uint32_t function) {
  const std::uint32_t agent = program.functions[function].agent;
  return agent != UINT32_MAX && (program.agents[agent].turn == function || program.agents[agent].take_over == function);
}

OpStatus prompt_agent(MachineState& state, Fiber& fiber, const bytecode::Extern& callee, SpawnedTurn prompted,
                      LabelId by) {
  const Program& program = state.program->program();
  const Agent& agent = program.agents[prompted.agent];
  const bool waits = prompted.kind == PromptKind::PauseForChild;
  if ((waits ? agent.run : agent.take_over) == bytecode::no_function) {
    return refuse(state, callee, "prompts an agent, which a program that an older Tenon has compiled cannot do");
  }
  return waits ? call_agent(state, fiber, callee, std::move(prompted), by)
               : finish_turn(state, fiber, callee, std::move(prompted), by);
}

}  // namespace tenon::vm
