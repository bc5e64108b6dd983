#include "cli/trace_options.h"

#include <CLI/CLI.hpp>

#include "cli/store_options.h"
#include "cli/usage_error.h"

namespace tenon::cli {

void add_trace_options(CLI::App& trace, TraceCommand& command) {
  using Verb = TraceCommand::Verb;
  trace.require_subcommand(1);
  const auto add = [&](const std::string& name, Verb verb, const std::string& help, const std::string& examples) {
    CLI::App* const added = trace.add_subcommand(name, help)->group("Commands")->footer("Examples:\n" + examples);
    added->callback([&command, verb] { command.verb = verb; });
    return added;
  };
  const auto add_form_version = [&](CLI::App* verb) {
    verb->add_option("--form-version", command.form_version,
                     "Version of the form; 1: for hashes without a version prefix")
        ->type_name("1|3|4")
        ->check(one_of({"1", "3", "4"}))
        ->default_str("4");
  };

  CLI::App* const artifacts = add("artifacts", Verb::Artifacts, "Print the run's normalized record",
                                  "  tenon trace artifacts RUN --store runs.store > run.json\n"
                                  "  tenon trace artifacts RUN --store runs.store --form npz > run.npz\n"
                                  "docs/guides/recorded_runs.md explains the record and the values of --form.\n");
  artifacts->add_option("RUN", command.run, "Name of the run")->required();
  add_needed_store_option(*artifacts, command.store);
  artifacts
      ->add_option(
          "--form", command.form,
          "json: the whole record; npz: its matrices for NumPy; or one matrix as JSON: calls in each cycle (m), "
          "their sums (mu), ones (J), which calls there are (S), columns of their tools as a matrix (Sigma) or "
          "a list (sigma), tools (theta), arguments (rho), results (R)")
      ->type_name("FORM")
      ->check(one_of({"json", "m", "mu", "J", "S", "Sigma", "sigma", "theta", "rho", "R", "npz"}))
      ->default_str("json");
  add_form_version(artifacts);

  CLI::App* const hash =
      add("hash", Verb::Hash, "Print the SHA-256 of a run's artifacts", "  tenon trace hash RUN --store runs.store\n");
  hash->add_option("RUN", command.run, "Name of the run")->required();
  add_needed_store_option(*hash, command.store);
  add_form_version(hash);

  CLI::App* const show = add("show", Verb::Show, "Print a run's calls as a tree, with the contexts of the model",
                             "  tenon trace show RUN --store runs.store\n");
  show->add_option("RUN", command.run, "Name of the run")->required();
  add_needed_store_option(*show, command.store);

  CLI::App* const flow = add("flow", Verb::Flow, "Print why each of a run's calls that act was made or refused",
                             "  tenon trace flow RUN --store runs.store\n"
                             "docs/language/23-trust.md explains which calls act, and what they may depend on.\n");
  flow->add_option("RUN", command.run, "Name of the run")->required();
  add_needed_store_option(*flow, command.store);
  flow->add_flag("--json", command.json, "Print a JSON object");

  CLI::App* const diff = add("diff", Verb::Diff, "Print where two runs differ, and why",
                             "  tenon trace diff RUN1 RUN2 --store runs.store\n");
  diff->add_option("A", command.run, "Name of the first run")->required();
  diff->add_option("B", command.other, "Name of the second run")->required();
  add_needed_store_option(*diff, command.store);
  diff->add_flag("--json", command.json, "Print a JSON object");

  CLI::App* const reconstruct =
      add("reconstruct", Verb::Reconstruct, "Rebuild a run from its artifacts and its program, and print its events",
          "  tenon trace reconstruct run.json order.tn\n"
          "  tenon trace artifacts RUN --store runs.store | tenon trace reconstruct - order.tn --hash\n");
  reconstruct->add_option("ARTIFACTS", command.file, "Output of `trace artifacts`, or - for stdin")->required();
  reconstruct->add_option("PROGRAM", command.programs, "Program of the run; for an upgraded conversation, all in order")
      ->required();
  reconstruct->add_flag("--hash", command.hash, "Print only the hash of the rebuilt artifacts, as `trace hash` does");
  reconstruct
      ->add_option("--prompts", command.prompts,
                   "Prompt templates: default, slides, marked, or a folder with your own files")
      ->type_name("STYLE")
      ->default_str("default");
}

}  // namespace tenon::cli
