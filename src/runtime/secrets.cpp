// Where secrets come in and are sealed, and where an extern has them opened.

#include <fmt/format.h>

#include "runtime/runtime.h"
#include "types/type_parts.h"

namespace tenon::runtime {

using effects::SecretEntry;
using effects::SecretError;
using types::FailureKind;
using types::TypeId;

namespace {

/// Empty for a run that is not recorded.
std::string_view recorded_name(const Run& run) {
  return run.journal.is_stored() ? std::string_view(run.journal.name().text) : std::string_view();
}

}  // namespace

/// The id of the key; empty for a program that has no secrets.
Result<std::string, SecretError> Runtime::prepare_secrets(const ProgramImage& image) {
  if (!image.has_secrets()) return std::string();
  if (dependencies_.secrets == nullptr)
    return failure(SecretError{"the program has secrets, and there is no key for them"});
  return dependencies_.secrets->prepare();
}

Result<void, SecretError> Runtime::seal_arguments(const Run& run, std::span<vm::Argument> arguments) {
  if (!run.image->has_secrets()) return {};
  const bytecode::Program& program = run.image->program();
  const bytecode::Function& function = program.functions[run.function];
  for (std::size_t at = 0; at < arguments.size(); ++at) {
    const SecretEntry entry{recorded_name(run), "", function.parameter_names[at]};
    if (!types::holds_secret(program.types, function.parameters[at])) continue;
    if (dependencies_.secrets == nullptr) return failure(SecretError{"there is no key for its secrets"});
    auto sealed = dependencies_.secrets->seal(arguments[at].value, function.parameters[at], program.types, entry);
    if (!sealed) return failure(std::move(sealed.error()));
    arguments[at].value = std::move(*sealed);
  }
  return {};
}

/// A model gives no secrets, so these come from externs and people. What cannot be sealed cannot be kept.
void Runtime::seal_outcome(const Run& run, const std::string& key, const vm::Request& request, vm::Outcome& outcome) {
  auto* const answered = std::get_if<vm::ReturnedValue>(&outcome.what);
  if (answered == nullptr || request.kind != vm::RequestKind::Extern) return;
  const bytecode::Program& program = run.image->program();
  const bytecode::Extern& giver = program.externs[request.subject];
  if (!types::holds_secret(program.types, giver.result)) return;
  Result<vm::Value, SecretError> sealed = failure(SecretError{"there is no key"});
  if (dependencies_.secrets != nullptr) {
    sealed = dependencies_.secrets->seal(answered->value, giver.result, program.types,
                                         {recorded_name(run), key, giver.name});
  }
  if (sealed) {
    answered->value = std::move(*sealed);
  } else {
    outcome.what = vm::EffectFailure{
        FailureKind::Conversion,
        fmt::format("a secret that `{}` has given cannot be sealed: {}", giver.name, sealed.error().message),
        giver.name};
  }
}

/// As the extern takes them. `texts`: what it was told.
Result<std::vector<vm::Value>, SecretError> Runtime::open_arguments(const Run& run, const vm::Request& request,
                                                                    std::vector<std::string>& texts) {
  if (!run.image->has_secrets()) return request.arguments;
  const bytecode::Program& program = run.image->program();
  const bytecode::Extern& callee = program.externs[request.subject];
  if (types::holds_secret(program.types, callee.result)) {
    if (const auto key = prepare_secrets(*run.image); !key) return failure(key.error());
  }
  std::vector<vm::Value> opened;
  for (std::size_t at = 0; at < request.arguments.size(); ++at) {
    if (!types::holds_secret(program.types, callee.parameters[at])) {
      opened.push_back(request.arguments[at]);
      continue;
    }
    if (dependencies_.secrets == nullptr) return failure(SecretError{"there is no key for its secrets"});
    auto argument = dependencies_.secrets->open(request.arguments[at], callee.parameters[at], program.types,
                                                recorded_name(run), texts);
    if (!argument) return failure(std::move(argument.error()));
    opened.push_back(std::move(*argument));
  }
  return opened;
}

/// Before anybody is told of what an extern gave: its new secrets are sealed, and those that it was told are taken out
/// of its words.
void Runtime::hide_secrets(const ExternCall& call, tools::ExternOutcome& outcome) {
  const Run& run = runs_[call.run.index];
  if (!run.image->has_secrets()) return;
  if (!outcome) {
    tools::ExternError& error = outcome.error();
    error.message = effects::scrub(std::move(error.message), call.secrets);
    if (error.question) error.question = effects::scrub(std::move(*error.question), call.secrets);
    if (error.prompt) error.prompt->input = effects::scrub(std::move(error.prompt->input), call.secrets);
    return;
  }
  const bytecode::Program& program = run.image->program();
  const TypeId type = program.externs[call.request.subject].result;
  *outcome = effects::scrub(*outcome, type, program.types, call.secrets);
  vm::Outcome sealed{vm::ReturnedValue{std::move(*outcome)}, {}};
  seal_outcome(run, call.request.key, call.request, sealed);
  if (auto* const answered = std::get_if<vm::ReturnedValue>(&sealed.what)) {
    *outcome = std::move(answered->value);
  } else {
    const auto& declined = std::get<vm::EffectFailure>(sealed.what);
    outcome = failure(tools::ExternError{declined.kind, declined.message, ""});
  }
}

/// The run cannot continue here, and nothing of it has changed: another process, or a later attempt, can resume it.
void Runtime::detach_run(RunId id, std::string problem) {
  cancel_effects(id);
  runs_[id.index].end = RunDetached{std::move(problem), std::nullopt};
  enqueue(id);
}

}  // namespace tenon::runtime
