#include "vm/execution/trust.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "types/table/type_parts.h"
#include "vm/execution/operations.h"
#include "vm/execution/trials.h"
#include "vm/values/object.h"

namespace tenon::vm {
namespace {

using bytecode::Instruction;
using bytecode::Opcode;
using types::TypeId;
using types::TypeKind;

std::string join_with_and(const std::vector<std::string>& sources) {
  std::string text;
  for (const std::string& source : sources) text += (text.empty() ? "" : " and ") + source;
  return text;
}

bytecode::Place place_of(const MachineState& state, const Fiber& fiber) {
  return state.program->place_of(fiber.frames.back().function, fiber.frames.back().pc);
}

/// Keeps what was refused for who runs the machine.
void note(MachineState& state, const Fiber& fiber, Refusal refusal, std::span<const Value> values) {
  const AmongAgents among = place_among_agents(state, fiber);
  refusal.place = place_of(state, fiber);
  refusal.agent = among.agent;
  refusal.depth = among.depth;
  if (state.observer != nullptr) state.observer->on_refused(fiber.key, refusal, values);
  const auto known =
      std::ranges::find_if(state.refusals, [&](const Refusal& other) { return other.is_same_as(refusal); });
  if (known != state.refusals.end()) {
    ++known->times;
  } else if (state.refusals.size() < refusals_max) {
    state.refusals.push_back(std::move(refusal));
  }
}

/// Labels do not depend on what is not trusted, and so the failure does not either, except by what was decided before.
OpStatus refuse(MachineState& state, const Fiber& fiber, Refusal refusal, std::span<const Value> values) {
  const OpStatus status =
      fail(state, types::FailureKind::Untrusted,
           refusal.what + " must only depend on what is trusted, and depends on " + join_with_and(refusal.sources),
           fiber.control, refusal.subject);
  note(state, fiber, std::move(refusal), values);
  return status;
}

const bytecode::Extern& called_extern(const MachineState& state, const Fiber& fiber) {
  return state.program->program().externs[instruction_of(state, fiber).wide()];
}

std::span<Value> arguments_of_call(const MachineState& state, Fiber& fiber) {
  Value* const window = fiber.registers.data() + fiber.frames.back().base + instruction_of(state, fiber).a;
  return {window, called_extern(state, fiber).parameters.size()};
}

std::span<const Value> arguments_of_call(const MachineState& state, const Fiber& fiber) {
  const Value* const window = fiber.registers.data() + fiber.frames.back().base + instruction_of(state, fiber).a;
  return {window, called_extern(state, fiber).parameters.size()};
}

/// What the newest frame itself has decided on to get where it is.
LabelId own_control(MachineState& state, const Fiber& fiber) {
  LabelId label;
  for (const OpenRegion& open : fiber.regions) {
    if (open.frame + 1 == fiber.frames.size()) label = state.labels.join(label, open.label);
  }
  return label;
}

struct Part {
  Value* value;
  TypeId type;
  bool is_trusted = false;  ///< a field of a struct that says so
};

/// The direct parts of a value: what is found in it.
std::vector<Part> parts_of(const types::TypeTable& types, const Part& whole) {
  std::vector<Part> parts;
  const TypeId type = types.base(whole.type);
  const std::vector<TypeId>& arguments = types.get(type).arguments;
  switch (types.kind(type)) {
    case TypeKind::List:
      for (Value& item : own_list(*whole.value).items) parts.push_back({&item, arguments[0]});
      break;
    case TypeKind::Map:
      for (MapEntry& entry : own_map(*whole.value).slots) {
        parts.push_back({&entry.key, types::TypeTable::string});
        parts.push_back({&entry.value, arguments[0]});
      }
      break;
    case TypeKind::Struct:
      for (const types::Field& field : types.struct_type(type).fields) {
        parts.push_back({own_fields(*whole.value).data() + parts.size(), field.type, field.is_trusted});
      }
      break;
    case TypeKind::Tuple:
      for (const TypeId item : arguments) parts.push_back({own_fields(*whole.value).data() + parts.size(), item});
      break;
    case TypeKind::Option:
      if (whole.value->tag() == Tag::Variant) parts.push_back({own_fields(*whole.value).data(), arguments[0]});
      break;
    case TypeKind::Result: {
      if (whole.value->tag() != Tag::Variant) break;
      const bool is_failure = whole.value->case_index() != 0;
      parts.push_back({own_fields(*whole.value).data(), is_failure ? types::TypeTable::failure : arguments[0]});
      break;
    }
    case TypeKind::Enum:
      if (whole.value->tag() != Tag::Variant) break;
      for (const TypeId item : types.enum_type(type).variants[whole.value->case_index()].payload) {
        parts.push_back({own_fields(*whole.value).data() + parts.size(), item});
      }
      break;
    default:
      break;
  }
  return parts;
}

}  // namespace

std::vector<std::string> untrusted_sources(const MachineState& state, LabelId label) {
  std::vector<std::string> described;
  for (const std::uint32_t index : state.labels.sources_of(label)) {
    const Source& source = state.labels.sources()[index];
    if (!is_trusted(source, state.program->program())) described.push_back(describe(source));
  }
  return described;
}

bool is_trusted(const MachineState& state, LabelId label) {
  return std::ranges::all_of(state.labels.sources_of(label), [&](std::uint32_t index) {
    return is_trusted(state.labels.sources()[index], state.program->program());
  });
}

bool is_trusted(const Source& source, const bytecode::Program& program) {
  switch (source.kind) {
    case SourceKind::Argument:
    case SourceKind::Model:  // an answer is as good as what the model saw, which its label has, too
    case SourceKind::Endorsed:
    case SourceKind::Approved:
    case SourceKind::Narrow:
      return true;
    case SourceKind::Person:
      return program.trusts_person;
    case SourceKind::Extern:
    case SourceKind::Unknown:
      return false;
  }
  return false;
}

OpStatus take_approval(MachineState& state, Value& answer, const std::string& what, LabelId call) {
  if (answer.tag() != Tag::Variant) {
    const LabelId person = state.labels.intern({SourceKind::Person, ""});
    return fail(state, types::FailureKind::Refused, "a person does not approve of " + what,
                state.labels.join(call, person), "person");
  }
  Value approved = std::exchange(own_fields(answer).data()[0], Value());
  replace_labels(approved, state.labels.intern({SourceKind::Approved, ""}));
  answer = std::move(approved);
  return OpStatus::Ok;
}

OpStatus check_call(MachineState& state, Fiber& fiber) {
  if (std::exchange(fiber.approval, Approval::None) == Approval::Given) return OpStatus::Ok;
  const bytecode::Extern& callee = called_extern(state, fiber);
  if (!bytecode::acts(callee)) return OpStatus::Ok;
  const std::span<const Value> arguments = arguments_of_call(std::as_const(state), fiber);
  const auto refuse_or_ask = [&](std::string what, std::vector<std::string> untrusted) {
    if (callee.approval == bytecode::no_extern) {
      return refuse(state, fiber, {callee.name, std::move(what), std::move(untrusted), {}}, arguments);
    }
    fiber.approval = Approval::Asked;
    return OpStatus::Ok;
  };
  if (auto untrusted = untrusted_sources(state, fiber.control); !untrusted.empty()) {
    return refuse_or_ask("whether `" + callee.name + "` is called", std::move(untrusted));
  }
  for (const std::uint16_t parameter : callee.trusted_parameters) {
    const LabelId label = whole_label(arguments[parameter], state.labels);
    if (auto untrusted = untrusted_sources(state, label); !untrusted.empty()) {
      return refuse_or_ask("`" + callee.parameter_names[parameter] + "` of `" + callee.name + "`",
                           std::move(untrusted));
    }
  }
  return charge_trials(state, fiber);
}

void ask_about_call(const MachineState& state, const Fiber& fiber, Request& request) {
  const bytecode::Extern& callee = called_extern(state, fiber);
  const std::span<const Value> arguments = arguments_of_call(state, fiber);
  request.subject = callee.approval;
  request.arguments = {Value::record(state.program->program().externs[callee.approval].parameters[0],
                                     std::vector<Value>(arguments.begin(), arguments.end())),
                       Value::string("Call `" + callee.name + "`?")};
}

OpStatus take_approved_call(MachineState& state, Fiber& fiber, Value& answer, LabelId call) {
  const std::string& name = called_extern(state, fiber).name;
  fiber.approval = Approval::None;
  if (take_approval(state, answer, "the call of `" + name + "`", call) == OpStatus::Failed) return OpStatus::Failed;
  const std::span<Value> arguments = arguments_of_call(state, fiber);
  std::ranges::move(own_fields(answer).fields(), arguments.begin());
  fiber.approval = Approval::Given;
  return OpStatus::Ok;
}

OpStatus require_trusted(MachineState& state, const Fiber& fiber, const Value& value, const Value& what) {
  const LabelId label = state.labels.join(whole_label(value, state.labels), own_control(state, fiber));
  auto untrusted = untrusted_sources(state, label);
  if (untrusted.empty()) return OpStatus::Ok;
  const std::string& function = state.program->program().functions[fiber.frames.back().function].name;
  return refuse(state, fiber, {function, std::string(what.as_text()), std::move(untrusted), {}}, {&value, 1});
}

void label_result(MachineState& state, const bytecode::Extern& callee, Value& value, LabelId call, LabelId source) {
  if (callee.is_vouched) return add_label(value, call, state.labels);
  const bool is_native = callee.builtin_effect == types::BuiltinEffect::Native;
  if (!is_native || !state.program->holds_vouched(callee.result)) return add_label(value, source, state.labels);
  add_label(value, call, state.labels);
  for (std::vector<Part> within{{&value, callee.result}}; !within.empty();) {
    const Part whole = within.back();
    within.pop_back();
    for (const Part& part : parts_of(state.program->types(), whole)) {
      if (part.is_trusted) continue;
      if (state.program->holds_vouched(part.type)) {
        within.push_back(part);
      } else {
        add_label(*part.value, source, state.labels);
      }
    }
  }
}

LabelId label_of_answer(MachineState& state, const Request& request, LabelId seen) {
  const bytecode::Program& program = state.program->program();
  if (request.kind != RequestKind::Complete || !program.sites[request.subject].narrow_bits) return seen;
  // What decided that the model is asked raises the answer where that region ends, as all that is written in it.
  return state.labels.intern({SourceKind::Narrow, program.functions[request.function].name});
}

ScopeId scope_of_bits(const MachineState& state, const Fiber& fiber) {
  ScopeId at = fiber.frames.back().scope;
  while (!state.scopes[at.index].bounds.bits && at != run_scope) at = state.scopes[at.index].parent;
  return at;
}

OpStatus charge_bits(MachineState& state, const Fiber& fiber, std::uint32_t bits) {
  const ScopeId at = scope_of_bits(state, fiber);
  BudgetScope& scope = state.scopes[at.index];
  const std::uint64_t allowed = scope.bounds.bits.value_or(bytecode::default_bits);
  if (bits > allowed || scope.bits > allowed - bits) {
    if (state.observer != nullptr) {
      state.observer->on_bits_spent(fiber.key, place_of(state, fiber), bits, scope.bits, allowed);
    }
    return fail_budget(state, at, "bits", allowed, "bit");
  }
  scope.bits += bits;
  return OpStatus::Ok;
}

OpStatus charge_answer(MachineState& state, const Fiber& fiber) {
  const Instruction instruction = instruction_of(state, fiber);
  if (instruction.opcode != static_cast<std::uint16_t>(Opcode::Complete)) return OpStatus::Ok;
  const auto bits = state.program->program().sites[instruction.wide()].narrow_bits;
  return bits ? charge_bits(state, fiber, *bits) : OpStatus::Ok;
}

std::vector<std::string_view> reasons_for_call(MachineState& state, const Request& request) {
  const auto waiting = state.waiting.find(request.id);
  if (request.kind != RequestKind::Extern || waiting == state.waiting.end()) return {};
  const bytecode::Extern& callee = state.program->program().externs[request.subject];
  if (!bytecode::acts(callee)) return {};
  const Fiber& fiber = state.fiber(waiting->second);
  bool is_approved = false, is_narrow = false, is_endorsed = false;
  const auto look = [&](LabelId label) {
    // What is not trusted remains only where a person has approved of the call.
    is_approved |= !is_trusted(state, label);
    for (const std::uint32_t index : state.labels.sources_of(label)) {
      const SourceKind kind = state.labels.sources()[index].kind;
      is_approved |= kind == SourceKind::Approved;
      is_narrow |= kind == SourceKind::Narrow;
      is_endorsed |= kind == SourceKind::Endorsed;
    }
  };
  look(fiber.control);
  // The table has these labels since the request was made: a run is the same whether or not this is asked.
  for (const std::uint16_t parameter : callee.trusted_parameters) {
    look(whole_label(request.arguments[parameter], state.labels));
  }
  std::vector<std::string_view> reasons;
  if (is_approved) reasons.emplace_back("approved");
  if (is_endorsed) reasons.emplace_back("endorsed");
  if (is_narrow) reasons.emplace_back("narrow");
  if (is_tried(state, fiber)) reasons.emplace_back("tried");
  if (reasons.empty()) reasons.emplace_back("trusted");
  return reasons;
}

void endorse(MachineState& state, const Fiber& fiber, Value& value, std::string_view why) {
  if (state.observer != nullptr) state.observer->on_endorsed(fiber.key, place_of(state, fiber), value, why);
  replace_labels(value, state.labels.intern({SourceKind::Endorsed, std::string(why)}));
}

}  // namespace tenon::vm
