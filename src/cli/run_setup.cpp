#include "cli/run_setup.h"

#include <filesystem>

#include "cli/extern_binding.h"

namespace tenon::cli {
namespace {

std::string path_of(const project::Manifest& manifest, const std::string& path) {
  return (std::filesystem::path(manifest.folder) / path).lexically_normal().string();
}

/// The model's name. A path in it is relative to the manifest's folder.
std::string model_of(const project::Manifest& manifest, const std::optional<std::string>& spec) {
  if (!spec) return "";
  for (const std::string_view kind : {"gguf:", "script:", "recorded:"}) {
    if (spec->starts_with(kind) && spec->size() > kind.size()) {
      return std::string(kind) + path_of(manifest, spec->substr(kind.size()));
    }
  }
  return *spec;
}

std::string style_of(const project::Manifest& manifest) {
  if (!manifest.style || *manifest.style == "default" || *manifest.style == "slides") {
    return manifest.style.value_or("");
  }
  return path_of(manifest, *manifest.style);
}

}  // namespace

void apply_manifest(const project::Manifest& manifest, RunCommand& command) {
  if (command.model.spec.empty()) command.model.spec = model_of(manifest, manifest.model);
  if (command.model.judge.empty()) command.model.judge = model_of(manifest, manifest.judge);
  command.model.request_fields = manifest.request_fields;
  if (command.prompts.empty()) command.prompts = style_of(manifest);
  const auto fill = [](std::optional<std::uint64_t>& bound, const std::optional<std::uint64_t>& other) {
    if (!bound) bound = other;
  };
  fill(command.budgets.calls, manifest.budget.model_calls);
  fill(command.budgets.tokens, manifest.budget.tokens);
  fill(command.budgets.instructions, manifest.budget.instructions);
  fill(command.budgets.depth, manifest.budget.depth);
  fill(command.budgets.milliseconds, manifest.budget.milliseconds);
  fill(command.retry.initial_ms, manifest.retry.initial_ms);
  fill(command.retry.factor_thousandths, manifest.retry.factor_thousandths);
  fill(command.retry.interval_max_ms, manifest.retry.interval_max_ms);
  fill(command.retry.elapsed_max_ms, manifest.retry.elapsed_max_ms);
}

runtime::RunOptions run_options(const RunCommand& command, const std::optional<project::Manifest>& manifest) {
  runtime::RunOptions options;
  options.model = command.model.spec;
  options.judge = command.model.judge;
  options.prompts = command.prompts;
  options.libraries = library_paths(command.externs, manifest);
  options.repairs_max = command.repairs;
  options.retry = command.retry;
  options.sampling = {command.model.temperature, command.model.seed, command.model.tokens_max};
  options.generation_timeout = std::chrono::milliseconds(command.model.timeout_ms);
  const Budgets& budgets = command.budgets;
  if (budgets.calls) options.budgets.model_calls_max = budgets.calls;
  if (budgets.instructions) options.budgets.instructions_max = budgets.instructions;
  if (budgets.depth) options.budgets.depth_max = budgets.depth;
  options.budgets.tokens_max = budgets.tokens;
  options.budgets.milliseconds_max = budgets.milliseconds;
  return options;
}

}  // namespace tenon::cli
