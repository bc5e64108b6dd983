#include "engine/settings.h"

#include <filesystem>

#include "engine/model_providers.h"

namespace tenon::engine {
namespace {

std::string path_of(const project::Manifest& manifest, const std::string& path) {
  return (std::filesystem::path(manifest.folder) / path).lexically_normal().string();
}

/// The model's name. A path in it is relative to the manifest's folder.
std::string model_of(const project::Manifest& manifest, const std::optional<std::string>& spec) {
  if (!spec) return "";
  const std::size_t colon = spec->find(':');
  const ModelProvider* const provider = find_provider(*spec);
  const bool has_path = provider != nullptr && provider->rest == ModelProvider::Rest::Path && colon < spec->size() - 1;
  return has_path ? spec->substr(0, colon + 1) + path_of(manifest, spec->substr(colon + 1)) : *spec;
}

std::string style_of(const project::Manifest& manifest) {
  if (!manifest.style || *manifest.style == "default" || *manifest.style == "slides") {
    return manifest.style.value_or("");
  }
  return path_of(manifest, *manifest.style);
}

}  // namespace

void complete(Settings& settings, const std::optional<project::Manifest>& found) {
  if (found) {
    const project::Manifest& manifest = *found;
    if (settings.model.spec.empty()) settings.model.spec = model_of(manifest, manifest.model);
    if (settings.model.judge.empty()) settings.model.judge = model_of(manifest, manifest.judge);
    settings.model.request_fields = manifest.request_fields;
    if (settings.prompts.empty()) settings.prompts = style_of(manifest);
    settings.budgets = bytecode::complete(settings.budgets, manifest.budget);
    const auto fill = [](std::optional<std::uint64_t>& setting, const std::optional<std::uint64_t>& other) {
      if (!setting) setting = other;
    };
    fill(settings.retry.initial_ms, manifest.retry.initial_ms);
    fill(settings.retry.factor_thousandths, manifest.retry.factor_thousandths);
    fill(settings.retry.interval_max_ms, manifest.retry.interval_max_ms);
    fill(settings.retry.elapsed_max_ms, manifest.retry.elapsed_max_ms);
  }
  if (settings.model.spec.empty()) settings.model.spec = default_model;
  if (settings.prompts.empty()) settings.prompts = "default";
}

std::vector<std::string> library_paths(const std::vector<std::string>& given,
                                       const std::optional<project::Manifest>& manifest) {
  std::vector<std::string> paths;
  for (const std::string& library : given) {
    paths.push_back(std::filesystem::absolute(library).lexically_normal().string());
  }
  if (!manifest) return paths;
  for (const std::string& library : manifest->libraries) {
    paths.push_back((std::filesystem::path(manifest->folder) / library).lexically_normal().string());
  }
  return paths;
}

runtime::RunOptions run_options(const Settings& settings, const std::optional<project::Manifest>& manifest) {
  runtime::RunOptions options;
  options.model = settings.model.spec;
  options.judge = settings.model.judge;
  options.prompts = settings.prompts;
  options.libraries = library_paths(settings.externs, manifest);
  options.repairs_max = settings.repairs;
  options.retry = settings.retry;
  options.sampling = {settings.model.temperature, settings.model.seed, settings.model.tokens_max};
  options.generation_timeout = std::chrono::milliseconds(settings.model.timeout_ms);
  options.budgets = bytecode::complete(settings.budgets, bytecode::default_bounds);
  return options;
}

}  // namespace tenon::engine
