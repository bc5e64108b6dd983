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
  settings.model_calls_max = options.budgets.model_calls_max;
  settings.instructions_max = options.budgets.instructions_max;
  settings.depth_max = options.budgets.depth_max;
  settings.tokens_max = options.budgets.tokens_max;
  settings.cost_millionths_max = options.budgets.cost_millionths_max;
  settings.milliseconds_max = options.budgets.milliseconds_max;
  settings.retry = options.retry;
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
  options.budgets.model_calls_max = settings.model_calls_max;
  options.budgets.instructions_max = settings.instructions_max;
  options.budgets.depth_max = settings.depth_max;
  options.budgets.tokens_max = settings.tokens_max;
  options.budgets.cost_millionths_max = settings.cost_millionths_max;
  options.budgets.milliseconds_max = settings.milliseconds_max;
  options.retry = settings.retry;
  return options;
}

}  // namespace tenon::runtime
