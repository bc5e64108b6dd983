#include "effects/effect.h"

#include "base/ensure.h"
#include "bytecode/agents.h"
#include "json/writer.h"
#include "vm/execution/tool_sets.h"
#include "vm/values/context.h"

namespace tenon::effects {
namespace {

using bytecode::CallShape;
using bytecode::Program;
using types::BuiltinEffect;
using types::TypeId;
using vm::RequestKind;
using vm::Value;

/// The types of the values in an outcome of the request.
std::vector<TypeId> promised_types(const vm::Request& request, const Program& program, std::uint32_t option) {
  const auto holes_of = [](const CallShape& call) {
    std::vector<TypeId> types;
    for (const std::uint16_t hole : call.holes) types.push_back(call.parameters[hole]);
    return types;
  };
  switch (request.kind) {
    case RequestKind::Extern:
      return {program.externs[request.subject].result};
    case RequestKind::Complete:
      return {program.sites[request.subject].result};
    case RequestKind::Fill:
      return holes_of(program.sites[request.subject].call);
    case RequestKind::Select:
      return holes_of(*vm::options_of(request, program)[option].call);
  }
  ENSURE(false);
}

Result<void, ValueFormError> write_list(std::span<const Value> values, std::span<const TypeId> types,
                                        const types::TypeTable& table, std::string& out) {
  out += '[';
  for (std::size_t at = 0; at < values.size(); ++at) {
    if (at > 0) out += ',';
    if (auto written = write_value(values[at], types[at], table, out); !written) return written;
  }
  out += ']';
  return {};
}

}  // namespace

AgentScopeView scope_of(const vm::Request& request, const Program& program) {
  if (request.agent == UINT32_MAX) return {{}, request.depth};
  return {program.agents[request.agent].name, request.depth};
}

OutcomeForm form_of(const Finished& finished, std::string value) {
  OutcomeForm form{{}, finished.clause, finished.failure, std::nullopt, finished.tool};
  if (finished.prompted) {
    form.prompt = AgentPrompt{finished.prompted->agent, std::move(value), finished.prompted->kind};
  } else {
    form.value = std::move(value);
  }
  return form;
}

EffectKind kind_of(const vm::Request& request, const Program& program) {
  switch (request.kind) {
    case RequestKind::Complete:
      return EffectKind::Complete;
    case RequestKind::Fill:
      return EffectKind::Fill;
    case RequestKind::Select:
      return EffectKind::Select;
    case RequestKind::Extern:
      break;
  }
  switch (program.externs[request.subject].builtin_effect) {
#define TENON_BUILTIN_EFFECT(number, name, effect, meaning) \
  case BuiltinEffect::name:                                 \
    return EffectKind::effect;
    TENON_BUILTIN_EFFECTS(TENON_BUILTIN_EFFECT)
#undef TENON_BUILTIN_EFFECT
  }
  ENSURE(false);
}

Result<DescribedRequest, ValueFormError> describe_content(const vm::Request& request, const vm::LoadedProgram& loaded) {
  const Program& program = loaded.program();
  DescribedRequest described;
  described.kind = kind_of(request, program);
  Result<void, ValueFormError> written;
  switch (request.kind) {
    case RequestKind::Extern: {
      const bytecode::Extern& callee = program.externs[request.subject];
      described.subject = callee.name;
      if (described.kind == EffectKind::Emitted) {
        described.subject.clear();
      } else if (is_notification(described.kind)) {
        described.subject = request.arguments[0].as_text();
      }
      written = write_list(request.arguments, callee.parameters, program.types, described.arguments);
      break;
    }
    case RequestKind::Complete:
      described.subject = program.functions[program.sites[request.subject].function].name;
      break;
    case RequestKind::Fill: {
      const CallShape& call = program.sites[request.subject].call;
      described.subject = call.name;
      written = write_list(request.arguments, call.parameters, program.types, described.arguments);
      break;
    }
    case RequestKind::Select:
      break;
  }
  if (!written) return failure(std::move(written.error()));
  return described;
}

Result<DescribedRequest, ValueFormError> describe(const vm::Request& request, const vm::LoadedProgram& loaded,
                                                  const Hash& form) {
  auto content = describe_content(request, loaded);
  if (!content) return content;
  DescribedRequest& described = *content;
  const bool sees_context = request.kind != RequestKind::Extern;
  if (sees_context) described.context = vm::context_hash(request.context);

  // RFC 8785 text of an object: the keys are in order.
  std::string identity;
  JsonWriter out(identity);
  out.begin_object().name("arguments");
  out.raw(described.arguments.empty() ? "[]" : name_secrets(described.arguments));
  if (sees_context) out.name("context").text(described.context.hex());
  if (!form.is_zero()) out.name("form").text(form.hex());
  out.name("kind").text(effect_name(described.kind)).name("subject").text(described.subject).end_object();
  described.identity = sha256(identity);
  return content;
}

Result<OutcomeForm, ValueFormError> write_outcome(const vm::Outcome& outcome, const vm::Request& request,
                                                  const Program& program) {
  OutcomeForm form;
  if (const auto* const declined = std::get_if<vm::EffectFailure>(&outcome.what)) {
    form.failure = FailureText{declined->kind, declined->message, declined->blame, {}};
    return form;
  }
  Result<void, ValueFormError> written;
  if (const auto* const answered = std::get_if<vm::ReturnedValue>(&outcome.what)) {
    const TypeId type = promised_types(request, program, 0).front();
    written = write_value(answered->value, type, program.types, form.value);
  } else if (const auto* const filled = std::get_if<vm::FilledArguments>(&outcome.what)) {
    written = write_list(filled->values, promised_types(request, program, 0), program.types, form.value);
  } else if (const auto* const prompted = std::get_if<vm::SpawnedTurn>(&outcome.what)) {
    const bytecode::Agent& agent = program.agents[prompted->agent];
    form.prompt = AgentPrompt{agent.name, {}, prompted->kind};
    written = write_value(prompted->input, bytecode::prompt_type(program, agent), program.types, form.prompt->input);
  } else {
    const auto& chosen = std::get<vm::SelectedClause>(outcome.what);
    form.clause = chosen.option;
    const vm::SelectOption option = vm::options_of(request, program)[chosen.option];
    if (option.tool) form.tool = option.call->name;
    written = write_list(chosen.values, promised_types(request, program, chosen.option), program.types, form.value);
  }
  if (!written) return failure(std::move(written.error()));
  return form;
}

Result<vm::Outcome, ValueFormError> read_outcome(const OutcomeForm& form, const vm::Request& request,
                                                 const Program& program) {
  vm::Outcome outcome;
  if (form.failure) {
    outcome.what = vm::EffectFailure{form.failure->kind, form.failure->message, form.failure->blame};
    return outcome;
  }
  if (form.prompt) {
    const auto agent = bytecode::find_agent(program, form.prompt->agent);
    if (!agent) return failure(ValueFormError{"the program has no agent `" + form.prompt->agent + "`"});
    auto input = read_value(form.prompt->input, bytecode::prompt_type(program, program.agents[*agent]), program.types);
    if (!input) return failure(std::move(input.error()));
    outcome.what = vm::SpawnedTurn{*agent, std::move(*input), form.prompt->kind};
    return outcome;
  }
  if (request.kind == RequestKind::Extern || request.kind == RequestKind::Complete) {
    auto value = read_value(form.value, promised_types(request, program, 0).front(), program.types);
    if (!value) return failure(std::move(value.error()));
    outcome.what = vm::ReturnedValue{std::move(*value)};
    return outcome;
  }
  if (request.kind == RequestKind::Select && form.clause >= vm::options_of(request, program).size()) {
    return failure(ValueFormError{"the select has no such clause"});
  }
  auto values = read_values(form.value, promised_types(request, program, form.clause), program.types);
  if (!values) return failure(std::move(values.error()));
  if (request.kind == RequestKind::Fill) {
    outcome.what = vm::FilledArguments{std::move(*values)};
  } else {
    outcome.what = vm::SelectedClause{form.clause, std::move(*values)};
  }
  return outcome;
}

std::string_view branch_of(std::string_view key) {
  const auto dot = key.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : key.substr(0, dot);
}

Cost cost_of(const vm::Usage& usage) {
  Cost cost;
  cost.model_calls = usage.model_calls;
  cost.tokens = usage.tokens;
  cost.cost_millionths = usage.cost_millionths;
  cost.milliseconds = usage.milliseconds;
  return cost;
}

vm::Usage usage_of(const Cost& cost) {
  return {cost.model_calls, cost.tokens, cost.cost_millionths, cost.milliseconds};
}

}  // namespace tenon::effects
