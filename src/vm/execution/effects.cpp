#include <set>
#include <string_view>

#include "base/ensure.h"
#include "json/text.h"
#include "vm/execution/agent_prompts.h"
#include "vm/execution/finally_handlers.h"
#include "vm/execution/implicit_flows.h"
#include "vm/execution/tool_sets.h"
#include "vm/execution/trials.h"
#include "vm/execution/trust.h"
#include "vm/values/context.h"
#include "vm/values/text.h"

namespace tenon::vm {
namespace {

using bytecode::CallShape;
using bytecode::Instruction;
using bytecode::Opcode;
using bytecode::Site;

RequestKind kind_of(Instruction instruction) {
  if (instruction.opcode == static_cast<std::uint16_t>(Opcode::CallExtern)) return RequestKind::Extern;
  if (instruction.opcode == static_cast<std::uint16_t>(Opcode::Complete)) return RequestKind::Complete;
  if (instruction.opcode == static_cast<std::uint16_t>(Opcode::Fill)) return RequestKind::Fill;
  return RequestKind::Select;
}

const Value* context_of(const MachineState& state, const Fiber& fiber) {
  const Frame& frame = fiber.frames.back();
  const std::uint16_t index = state.program->program().functions[frame.function].context_register;
  return fiber.registers.data() + frame.base + index;
}

std::string make_message(std::string text) {
  constexpr std::size_t message_bytes_max = 1024U * 1024U;
  if (text.size() > message_bytes_max) text.resize(message_bytes_max);
  return replace_invalid_utf8(std::move(text));
}

/// The values of an outcome for the registers from `first` on, in order; nothing if its shape does not match the
/// request.
struct Landing {
  std::vector<std::pair<std::uint32_t, Value>> values;  ///< by offset from the instruction's window
};

std::optional<Landing> land(const MachineState& state, const Request& request, Outcome& outcome) {
  Landing landing;
  const auto holes_filled = [](const CallShape& call, const std::vector<Value>& values) {
    return call.holes.size() == values.size();
  };
  switch (request.kind) {
    case RequestKind::Extern: {
      const bytecode::Program& program = state.program->program();
      if (const auto* const prompted = std::get_if<SpawnedTurn>(&outcome.what)) {
        const bool is_native = program.externs[request.subject].builtin_effect == types::BuiltinEffect::Native;
        return is_native && prompted->agent < program.agents.size() ? std::optional(landing) : std::nullopt;
      }
      [[fallthrough]];
    }
    case RequestKind::Complete: {
      auto* const answered = std::get_if<ReturnedValue>(&outcome.what);
      if (answered == nullptr) return std::nullopt;
      landing.values.emplace_back(0, std::move(answered->value));
      return landing;
    }
    case RequestKind::Fill: {
      const CallShape& call = state.program->program().sites[request.subject].call;
      auto* const filled = std::get_if<FilledArguments>(&outcome.what);
      if (filled == nullptr || !holes_filled(call, filled->values)) return std::nullopt;
      for (std::size_t i = 0; i < filled->values.size(); ++i) {
        landing.values.emplace_back(call.holes[i], std::move(filled->values[i]));
      }
      return landing;
    }
    case RequestKind::Select: {
      const std::vector<SelectOption> options = options_of(request, state.program->program());
      auto* const chosen = std::get_if<SelectedClause>(&outcome.what);
      if (chosen == nullptr || chosen->option >= options.size() ||
          !holes_filled(*options[chosen->option].call, chosen->values)) {
        return std::nullopt;
      }
      const SelectOption& option = options[chosen->option];
      landing.values.emplace_back(0, Value::integer(option.clause));
      if (option.tool) {
        auto arguments = write_arguments(*option.call, chosen->values, state.program->types());
        if (!arguments) return std::nullopt;
        landing.values.emplace_back(1, request.arguments[option.set].items()[option.item]);
        landing.values.emplace_back(2, Value::list(std::move(chosen->values)));
        landing.values.emplace_back(3, Value::string(option.call->name));
        landing.values.emplace_back(4, std::move(*arguments));
        return landing;
      }
      for (std::size_t i = 0; i < chosen->values.size(); ++i) {
        landing.values.emplace_back(static_cast<std::uint32_t>(i + 1), std::move(chosen->values[i]));
      }
      return landing;
    }
  }
  ENSURE(false);
}

/// The source of an outcome; nothing if it does not say anything about the world that could mislead.
std::optional<Source> source_of(const MachineState& state, const Request& request) {
  if (request.kind != RequestKind::Extern) return Source{SourceKind::Model, ""};
  const bytecode::Extern& callee = state.program->program().externs[request.subject];
  if (callee.builtin_effect == types::BuiltinEffect::Native) return Source{SourceKind::Extern, callee.name};
  if (types::asks_person(callee.builtin_effect)) return Source{SourceKind::Person, ""};
  return std::nullopt;
}

/// Whether it says something of what it was asked that there is an outcome. A person's approval is theirs to say, and
/// what a call that acts makes of what it is given is its own.
bool is_in_doubt(const MachineState& state, const Request& request) {
  const bytecode::Program& program = state.program->program();
  if (request.kind != RequestKind::Extern) return true;
  return !bytecode::acts(program.externs[request.subject]) && !asks_approval(request, program);
}

bool asks_person(const MachineState& state, const Fiber& fiber) {
  const bytecode::Extern& callee = state.program->program().externs[instruction_of(state, fiber).wide()];
  return fiber.approval == Approval::Asked || types::asks_person(callee.builtin_effect);
}

/// The sets of a select: in the registers after the first register of the answer, one for each clause that offers a
/// set.
std::span<const Value> sets_at(const MachineState& state, const Fiber& fiber) {
  const Instruction select = instruction_of(state, fiber);
  const Value* const window = fiber.registers.data() + fiber.frames.back().base + select.a;
  return {window + 1, bytecode::count_sets(state.program->program().sites[select.wide()])};
}

/// A name that a tool shares with another tool or a clause; nothing if all names are unique.
std::optional<std::string> find_shared_name(const bytecode::Program& program, const Site& site,
                                            std::span<const bytecode::ToolIndices> sets) {
  std::set<std::string_view> names;
  for (const bytecode::Clause& clause : site.clauses) {
    if (!clause.is_set && !clause.is_else) names.insert(clause.call.name);
  }
  for (const bytecode::ToolIndices& set : sets) {
    for (const std::uint32_t tool : set) {
      if (!names.insert(program.tools[tool].call.name).second) return program.tools[tool].call.name;
    }
  }
  return std::nullopt;
}

/// A select needs at least one choice, and unique names.
OpStatus check_options(MachineState& state, const Fiber& fiber) {
  const bytecode::Program& program = state.program->program();
  const Site& site = program.sites[instruction_of(state, fiber).wide()];
  const std::span<const Value> sets = sets_at(state, fiber);
  if (sets.empty()) return OpStatus::Ok;
  std::size_t options = site.clauses.size() - sets.size();
  LabelId label;
  std::vector<bytecode::ToolIndices> all;
  for (const Value& set : sets) {
    auto tools = find_tools(set, program);
    if (!tools) return damage(state, "a set of tools was expected");
    options += tools->size();
    all.push_back(std::move(*tools));
    label = state.labels.join(label, set.label());
  }
  if (options == 0) {
    return fail(state, types::FailureKind::Index, "there is nothing to choose from: the set of tools is empty", label);
  }
  if (options <= select_options_max) {
    const auto shared = find_shared_name(program, site, all);
    if (!shared) return OpStatus::Ok;
    return fail(state, types::FailureKind::Conversion,
                "two of what this select chooses among are named " + make_json_string(*shared) +
                    "; rename one of them with `as` where it is listed",
                label);
  }
  return fail(state, types::FailureKind::Index,
              "a select chooses among at most " + std::to_string(select_options_max) +
                  " clauses and tools, and here are " + std::to_string(options),
              label);
}

}  // namespace

AmongAgents place_among_agents(const MachineState& state, const Fiber& innermost) {
  AmongAgents place;
  if (state.program->program().agents.empty()) return place;
  const std::vector<bytecode::Function>& functions = state.program->program().functions;
  for (const Fiber* fiber = &innermost; fiber != nullptr;) {
    for (auto frame = fiber->frames.rbegin(); frame != fiber->frames.rend(); ++frame) {
      const bytecode::Function& function = functions[frame->function];
      if (place.agent == UINT32_MAX) place.agent = function.agent;
      if (function.is_agent_run) ++place.depth;
    }
    fiber = fiber->parent.number == FiberId::none ? nullptr : state.fibers.at(fiber->parent).get();
  }
  return place;
}

OpStatus make_request(MachineState& state, Fiber& fiber) {
  const RequestKind kind = kind_of(instruction_of(state, fiber));
  if (kind != RequestKind::Extern) {
    if (context_of(state, fiber)->tag() != Tag::Context) return damage(state, "a context was expected");
    if (kind == RequestKind::Select) {
      if (const OpStatus status = check_options(state, fiber); status != OpStatus::Ok) return status;
    }
    if (const OpStatus status = charge_answer(state, fiber); status != OpStatus::Ok) return status;
    if (const OpStatus status = charge_model_call(state, fiber.frames.back().scope); status != OpStatus::Ok)
      return status;
  } else if (const OpStatus status = check_call(state, fiber); status != OpStatus::Ok) {
    return status;
  } else if (asks_person(state, fiber)) {
    note_question(state, fiber);
  }
  fiber.state = FiberState::Requesting;
  fiber.ordinal = fiber.next_ordinal++;
  fiber.request = {state.next_request++};
  fiber.is_request_taken = false;
  state.waiting.emplace(fiber.request, fiber.id);
  state.untaken.push_back(fiber.request);
  return OpStatus::Ok;
}

Request request_of(MachineState& state, const Fiber& fiber) {
  const bytecode::Program& program = state.program->program();
  const Instruction instruction = instruction_of(state, fiber);
  const Frame& frame = fiber.frames.back();
  const Value* const window = fiber.registers.data() + frame.base + instruction.a;
  Request request;
  request.id = fiber.request;
  request.key = fiber.key_of(fiber.ordinal);
  request.kind = kind_of(instruction);
  request.subject = instruction.wide();
  request.function = frame.function;
  const AmongAgents among = place_among_agents(state, fiber);
  request.agent = among.agent;
  request.depth = among.depth;
  request.label = fiber.control;
  if (request.kind == RequestKind::Extern) {
    if (fiber.approval == Approval::Asked) {
      ask_about_call(state, fiber, request);
    } else {
      request.arguments.assign(window, window + program.externs[request.subject].parameters.size());
    }
    for (const Value& argument : request.arguments)
      request.label = state.labels.join(request.label, whole_label(argument, state.labels));
    return request;
  }
  request.context = *context_of(state, fiber);
  request.label = state.labels.join(request.label, context_label(request.context, state.labels));
  if (request.kind == RequestKind::Select) {
    const std::span<const Value> sets = sets_at(state, fiber);
    request.arguments.assign(sets.begin(), sets.end());
    for (const Value& set : sets) request.label = state.labels.join(request.label, whole_label(set, state.labels));
  }
  if (request.kind == RequestKind::Complete && program.sites[request.subject].guard != bytecode::no_function) {
    const Value* const first = fiber.registers.data() + fiber.frames.back().base;
    request.arguments.assign(first, first + program.functions[frame.function].parameters.size());
  }
  if (request.kind == RequestKind::Fill) {
    const CallShape& call = program.sites[request.subject].call;
    request.arguments.assign(window, window + call.parameters.size());
    for (const std::uint16_t hole : call.holes) request.arguments[hole] = Value();
  }
  return request;
}

Result<void, ResumeError> take_outcome(MachineState& state, RequestId id, Outcome outcome) {
  const auto waiting = state.waiting.find(id);
  if (waiting == state.waiting.end()) return failure(ResumeError::UnknownRequest);
  Fiber& fiber = state.fiber(waiting->second);
  const Request request = request_of(state, fiber);
  auto* const declined = std::get_if<EffectFailure>(&outcome.what);
  std::optional<Landing> landing;
  if (declined == nullptr) {
    landing = land(state, request, outcome);
    if (!landing) return failure(ResumeError::WrongShape);
  }
  state.waiting.erase(waiting);
  std::erase(state.untaken, id);
  fiber.state = FiberState::Ready;
  const bool was_asked = std::exchange(fiber.approval, Approval::None) == Approval::Asked;

  if (fiber.awaited.tag() != Tag::Unit) {  // its branch was cancelled: the outcome ends the wait, and nothing sees it
    auto cancel = read_failure(std::exchange(fiber.awaited, {}), *state.program);
    ENSURE(cancel.has_value());
    static_cast<void>(charge_usage(state, fiber.frames.back().scope, request.kind, outcome.usage));
    state.cause = {};
    cancel->has_newest_frame = false;
    carry(state, fiber.id, std::move(*cancel));
    return {};
  }
  LabelId label = request.label;
  if (const auto source = source_of(state, request)) label = state.labels.join(label, state.labels.intern(*source));
  note_spending(state, fiber, label);
  if (is_in_doubt(state, request) && !was_asked) note_doubt(state, fiber, request.label);
  if (charge_usage(state, fiber.frames.back().scope, request.kind, outcome.usage) != OpStatus::Ok) {
    unwind(state, fiber.id);
    return {};
  }
  if (declined != nullptr) {
    static_cast<void>(fail(state, declined->kind, make_message(std::move(declined->message)), label,
                           make_message(std::move(declined->blame))));
    state.cause.is_outcome = true;
    unwind(state, fiber.id);
    return {};
  }
  if (auto* const prompted = std::get_if<SpawnedTurn>(&outcome.what)) {
    add_label(prompted->input, label, state.labels);
    const bytecode::Extern& callee = state.program->program().externs[request.subject];
    const OpStatus status = prompt_agent(state, fiber, callee, std::move(*prompted), label);
    if (status == OpStatus::Failed) unwind(state, fiber.id);
    if (status == OpStatus::Corrupt) end_damaged(state, fiber);
    return {};
  }
  if (was_asked) {
    const OpStatus status = take_approved_call(state, fiber, landing->values[0].second, request.label);
    status == OpStatus::Failed ? unwind(state, fiber.id) : make_ready(state, fiber);
    return {};
  }
  const Instruction instruction = instruction_of(state, fiber);
  Value* const window = fiber.registers.data() + fiber.frames.back().base + instruction.a;
  // The arguments of an extern are not needed after the call.
  for (std::size_t i = 0; request.kind == RequestKind::Extern && i < request.arguments.size(); ++i) window[i] = Value();
  const LabelId answered = label_of_answer(state, request, label);
  for (auto& [offset, value] : landing->values) {
    if (asks_approval(request, state.program->program())) {
      if (take_approval(state, value, "the value", request.label) == OpStatus::Failed) {
        unwind(state, fiber.id);
        return {};
      }
    } else if (request.kind == RequestKind::Extern) {
      label_result(state, state.program->program().externs[request.subject], value, request.label, label);
    } else {
      add_label(value, answered, state.labels);
    }
    window[offset] = std::move(value);
  }
  ++fiber.frames.back().pc;
  make_ready(state, fiber);
  return {};
}

}  // namespace tenon::vm
