#include "runtime/effects/run_secrets.h"

#include <fmt/format.h>

#include "types/table/type_parts.h"

namespace tenon::runtime {

using effects::SecretEntry;
using effects::SecretError;
using types::FailureKind;
using types::TypeId;

namespace {

/// Empty for a run without a store.
std::string_view stored_name(const Run& run) {
  return run.journal.is_stored() ? std::string_view(run.journal.name().text) : std::string_view();
}

}  // namespace

Result<std::string, SecretError> RunSecrets::prepare(const ProgramImage& image) {
  if (!image.has_secrets()) return std::string();
  if (vault_ == nullptr) return failure(SecretError{"the program has secrets, and there is no key for them"});
  return vault_->prepare();
}

Result<void, SecretError> RunSecrets::require(const std::string& key_id) {
  if (key_id.empty()) return {};
  if (vault_ == nullptr) return failure(SecretError{"there is no key for its secrets"});
  return vault_->require(key_id);
}

Result<void, SecretError> RunSecrets::seal_arguments(const Run& run, std::span<vm::Argument> arguments) {
  if (!run.image->has_secrets()) return {};
  const bytecode::Program& program = run.image->program();
  const bytecode::Function& function = program.functions[run.function];
  for (std::size_t at = 0; at < arguments.size(); ++at) {
    const SecretEntry entry{stored_name(run), "", function.parameter_names[at]};
    if (!types::holds_secret(program.types, function.parameters[at])) continue;
    if (vault_ == nullptr) return failure(SecretError{"there is no key for its secrets"});
    auto sealed = vault_->seal(arguments[at].value, function.parameters[at], program.types, entry);
    if (!sealed) return failure(std::move(sealed.error()));
    arguments[at].value = std::move(*sealed);
  }
  return {};
}

/// A model gives no secrets, so these come from externs and people. A secret that cannot be sealed is not kept.
void RunSecrets::seal_outcome(const Run& run, const vm::Request& request, vm::Outcome& outcome) {
  auto* const answered = std::get_if<vm::ReturnedValue>(&outcome.what);
  if (!run.image->has_secrets() || answered == nullptr || request.kind != vm::RequestKind::Extern) return;
  const bytecode::Program& program = run.image->program();
  const bytecode::Extern& giver = program.externs[request.subject];
  if (!types::holds_secret(program.types, giver.result)) return;
  Result<vm::Value, SecretError> sealed = failure(SecretError{"there is no key"});
  if (vault_ != nullptr) {
    sealed = vault_->seal(answered->value, giver.result, program.types, {stored_name(run), request.key, giver.name});
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

Result<std::vector<vm::Value>, SecretError> RunSecrets::open_arguments(const Run& run, const vm::Request& request,
                                                                       std::vector<std::string>& texts) {
  if (!run.image->has_secrets()) return request.arguments;
  const bytecode::Program& program = run.image->program();
  const bytecode::Extern& callee = program.externs[request.subject];
  if (types::holds_secret(program.types, callee.result)) {
    if (const auto key = prepare(*run.image); !key) return failure(key.error());
  }
  std::vector<vm::Value> opened;
  for (std::size_t at = 0; at < request.arguments.size(); ++at) {
    if (!types::holds_secret(program.types, callee.parameters[at])) {
      opened.push_back(request.arguments[at]);
      continue;
    }
    if (vault_ == nullptr) return failure(SecretError{"there is no key for its secrets"});
    auto argument = vault_->open(request.arguments[at], callee.parameters[at], program.types, stored_name(run), texts);
    if (!argument) return failure(std::move(argument.error()));
    opened.push_back(std::move(*argument));
  }
  return opened;
}

void RunSecrets::hide(const Run& run, const vm::Request& request, const std::vector<std::string>& texts,
                      tools::ExternOutcome& outcome) {
  if (!run.image->has_secrets()) return;
  if (!outcome) {
    tools::ExternError& error = outcome.error();
    error.message = effects::scrub(std::move(error.message), texts);
    if (error.question) error.question = effects::scrub(std::move(*error.question), texts);
    if (error.prompt) error.prompt->input = effects::scrub(std::move(error.prompt->input), texts);
    return;
  }
  const bytecode::Program& program = run.image->program();
  const TypeId type = program.externs[request.subject].result;
  *outcome = effects::scrub(*outcome, type, program.types, texts);
  vm::Outcome sealed{vm::ReturnedValue{std::move(*outcome)}, {}};
  seal_outcome(run, request, sealed);
  if (auto* const answered = std::get_if<vm::ReturnedValue>(&sealed.what)) {
    *outcome = std::move(answered->value);
  } else {
    const auto& declined = std::get<vm::EffectFailure>(sealed.what);
    outcome = failure(tools::ExternError{declined.kind, declined.message, ""});
  }
}

}  // namespace tenon::runtime
