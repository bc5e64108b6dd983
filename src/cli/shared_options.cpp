#include "cli/shared_options.h"

#include <functional>

#include "cli/store_options.h"
#include "cli/usage_error.h"
#include "engine/model_providers.h"

namespace tenon::cli {

void add_model_options(CLI::App& app, ModelChoice& model) {
  // An unset variable of the shell must not select the default.
  const std::function<std::string(const std::string&)> is_named = [](const std::string& spec) {
    return std::string(spec.empty() ? "it is empty" : "");
  };
  app.add_option("--model", model.spec,
                 fmt::format("Model: {}; see `tenon help models`", engine::list_model_forms(" (default)")))
      ->type_name("SPEC")
      ->group(model_group)
      ->check(is_named);
  app.add_option("--judge", model.judge, "Model that judges text contracts; same values as --model [default: --model]")
      ->type_name("SPEC")
      ->group(model_group)
      ->check(is_named);
  add_number(app, "--temperature", model.temperature, "Temperature of the sampling; 0 is greedy")
      ->group(model_group)
      ->default_str("0");
  add_number(app, "--seed", model.seed, "Seed of the sampling")->group(model_group)->default_str("0");
  add_number(app, "--max-tokens", model.tokens_max, "Maximum length of one answer")
      ->group(model_group)
      ->default_str("1024");
  add_number(app, "--timeout-ms", model.timeout_ms, "Time limit of one answer in milliseconds, including retries")
      ->group(model_group)
      ->default_str("120000");
  app.add_option("--record", model.record, "Append requests and answers to a file for --model recorded:FILE")
      ->type_name("FILE")
      ->group(model_group);
  add_number(app, "--threads", model.threads, "Threads for an in-process model (0: one per core)")
      ->group(model_group)
      ->default_str("0");
  add_number(app, "--context-tokens", model.context_tokens,
             "Context size of an in-process model (0: the size that it was trained with)")
      ->group(model_group)
      ->default_str("0");
  app.add_flag("!--fast", model.same_bits, "Faster prompt processing; results may vary slightly through rounding")
      ->group(model_group);
  app.add_flag("--raw-prompts", model.raw_prompts, "Send plain text without the chat template (in-process base models)")
      ->group(model_group);
}

void add_trace_and_prompts_options(CLI::App& app, std::string& trace, bool& show_prompts) {
  app.add_option("--trace", trace, "Write a trace to a file, one JSON object per line")
      ->type_name("FILE")
      ->group(inspection_group);
  app.add_flag("--show-prompts", show_prompts, "Print each prompt and each answer on stderr")->group(inspection_group);
}

void add_durability_option(CLI::App& app, StoreChoice& store) {
  app.add_option("--durability", store.durability,
                 "`full`: survives power loss; `process`: survives a crash of the process only")
      ->type_name("full|process")
      ->group(store_group)
      ->check(one_of({"full", "process"}))
      ->default_str("full");
}

void add_grace_option(CLI::App& app, std::uint32_t& seconds) {
  add_number(app, "--grace", seconds, "Seconds that calls in progress get to finish after SIGINT or SIGTERM",
             static_cast<std::uint32_t>(grace_seconds_max))
      ->group(store_group)
      ->default_str("10");
}

void add_reports_option(CLI::App& app, StoreChoice& store) {
  app.add_option("--reports", store.reports,
                 "Folder for the files of std::report (default: `reports` next to the store or in the current folder)")
      ->type_name("DIR")
      ->group(store_group);
}

CLI::Option* add_repeatable(CLI::App& app, const std::string& name, std::vector<std::string>& values,
                            const std::string& form, const std::string& help) {
  return app.add_option(name, values, help + "; may be repeated")->type_name(form)->take_all()->allow_extra_args(false);
}

void add_extern_option(CLI::App& app, std::vector<std::string>& externs) {
  add_repeatable(app, "--extern", externs, "LIB", "Shared library or Python file with externs")->group(program_group);
}

CLI::Option* add_prompts_option(CLI::App& app, std::string& prompts) {
  return app
      .add_option("--prompts", prompts, "Prompt templates: default, slides, marked, or a folder with your own files")
      ->type_name("STYLE")
      ->group(program_group);
}

void add_repair_option(CLI::App& app, std::uint32_t& repairs) {
  add_number(app, "--repair", repairs, "Maximum number of repair attempts for an invalid answer")
      ->group(model_group)
      ->default_str("2");
}

void add_budget_option(CLI::App& app, std::vector<std::string>& budgets, std::string_view scope) {
  add_repeatable(
      app, "--budget", budgets, "NAME=N",
      fmt::format("Budget of {}: calls, tokens, instructions, depth, or time, as in time=30s (without a unit: "
                  "milliseconds)",
                  scope))
      ->group(program_group);
}

void add_retry_option(CLI::App& app, std::vector<std::string>& texts) {
  add_repeatable(app, "--retry", texts, "NAME=VALUE",
                 "How a recorded run waits for a model or a tool that cannot be reached: initial=TIME (1s), factor=N "
                 "(2), max_interval=TIME (1m), max_elapsed=TIME (1d)")
      ->group(store_group);
}

}  // namespace tenon::cli
