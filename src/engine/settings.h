#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "effects/record.h"
#include "inference/openai_http/request_fields.h"
#include "inference/prompting/repair_loop.h"
#include "project/manifest.h"
#include "runtime/run_options.h"

namespace tenon::engine {

/// The model if no other is chosen.
inline constexpr std::string_view default_model = "builtin";

/// The model and the settings of its answers.
struct ModelChoice {
  std::string spec;           ///< as a ModelProvider's form; empty: the manifest's, or default_model
  std::string judge;          ///< the same, for contracts written as text; empty: the manifest's, or the model itself
  std::uint32_t threads = 0;  ///< 0: as many as the machine has cores
  std::uint32_t context_tokens = 0;
  bool same_bits = true;
  bool raw_prompts = false;
  float temperature = 0.0F;
  std::uint64_t seed = 0;
  std::uint32_t tokens_max = 1024;
  std::uint64_t timeout_ms = 120'000;
  inference::RequestFields request_fields;  ///< of openai:NAME, from the manifest
  std::string record;                       ///< a file that gets requests and answers
};

/// The settings of a program's runs. What is left out comes from the manifest of the program's project, or else has a
/// default.
struct Settings {
  ModelChoice model;
  std::vector<std::string> externs;   ///< libraries, before the manifest's; relative to the current folder
  std::vector<std::string> provided;  ///< names of externs that the embedding program performs
  std::string prompts;                ///< default | slides | a folder; empty: the manifest's, or default
  std::uint32_t repairs = inference::prompting::default_repairs_max;
  bytecode::Bounds budgets;
  effects::RetrySettings retry;
};

/// Fills in the settings that are left out from the manifest, if there is one, and the defaults.
void complete(Settings& settings, const std::optional<project::Manifest>& manifest);

/// The libraries of the settings and of the manifest, as absolute paths.
[[nodiscard]] std::vector<std::string> library_paths(const std::vector<std::string>& given,
                                                     const std::optional<project::Manifest>& manifest);

/// What is recorded with each run. `settings`: complete ones.
[[nodiscard]] runtime::RunOptions run_options(const Settings& settings,
                                              const std::optional<project::Manifest>& manifest);

}  // namespace tenon::engine
