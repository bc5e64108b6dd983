#include "runtime/run_options.h"

namespace tenon::runtime {

effects::RunSettings to_settings(const RunOptions& options) {
  effects::RunSettings settings;
  settings.model = options.model;
  settings.judge = options.judge;
  settings.prompts = options.prompts;
  settings.libraries = options.libraries;
  settings.temperature = options.sampling.temperature;
  settings.seed = options.sampling.seed;
  settings.answer_tokens_max = options.sampling.tokens_max;
  settings.repairs_max = options.repairs_max;
  settings.generation_timeout_ms = static_cast<std::uint64_t>(options.generation_timeout.count());
  settings.bounds = options.budgets;
  settings.retry = options.retry;
  settings.has_persons_arguments = options.has_persons_arguments;
  return settings;
}

RunOptions to_options(const effects::RunSettings& settings) {
  RunOptions options;
  options.model = settings.model;
  options.judge = settings.judge;
  options.prompts = settings.prompts;
  options.libraries = settings.libraries;
  options.sampling = {settings.temperature, settings.seed, settings.answer_tokens_max};
  options.repairs_max = settings.repairs_max;
  options.generation_timeout = std::chrono::milliseconds(settings.generation_timeout_ms);
  options.budgets = settings.bounds;
  options.retry = settings.retry;
  options.has_persons_arguments = settings.has_persons_arguments;
  return options;
}

}  // namespace tenon::runtime
