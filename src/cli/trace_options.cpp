#include "cli/trace_options.h"

#include <CLI/CLI.hpp>

namespace tenon::cli {

void add_trace_options(CLI::App& trace, TraceCommand& command) {
  using Verb = TraceCommand::Verb;
  trace.require_subcommand(1);
  const auto add = [&](const std::string& name, Verb verb, const std::string& help) {
    CLI::App* const added = trace.add_subcommand(name, help);
    added->callback([&command, verb] { command.verb = verb; });
    return added;
  };
  const auto add_store = [&](CLI::App* verb) {
    verb->add_option("--store", command.store.path, "where runs are kept: a file (the same as sqlite:FILE)")
        ->required();
  };

  const auto add_form_version = [&](CLI::App* verb) {
    verb->add_option("--form-version", command.form_version, "1: as hashes without a number in front have it")
        ->check(CLI::IsMember({1U, 3U}))
        ->capture_default_str();
  };

  CLI::App* const artifacts = add("artifacts", Verb::Artifacts, "print h, q, sigma and r, or a form of them");
  artifacts->add_option("RUN", command.run)->required();
  add_store(artifacts);
  artifacts->add_option("--form", command.form, "json | m | mu | J | S | Sigma | sigma | theta | rho | R | npz")
      ->check(CLI::IsMember({"json", "m", "mu", "J", "S", "Sigma", "sigma", "theta", "rho", "R", "npz"}))
      ->capture_default_str();
  add_form_version(artifacts);

  CLI::App* const hash = add("hash", Verb::Hash, "print the SHA-256 of a run's artifacts");
  hash->add_option("RUN", command.run)->required();
  add_store(hash);
  add_form_version(hash);

  CLI::App* const show = add("show", Verb::Show, "print a run's calls as a tree, with what the model saw");
  show->add_option("RUN", command.run)->required();
  add_store(show);

  CLI::App* const diff = add("diff", Verb::Diff, "print where two runs part, and why");
  diff->add_option("A", command.run)->required();
  diff->add_option("B", command.other)->required();
  add_store(diff);
  diff->add_flag("--json", command.json, "an object, on stdout");

  CLI::App* const reconstruct =
      add("reconstruct", Verb::Reconstruct, "rebuild a run from its artifacts and its program, with its plan");
  reconstruct->add_option("ARTIFACTS", command.file, "what `trace artifacts` printed; - is stdin")->required();
  reconstruct->add_option("PROGRAM", command.programs, "of a conversation that others have taken over: all, in order")
      ->required();
  reconstruct->add_flag("--hash", command.hash, "print only the hash of what was rebuilt, as `trace hash` prints it");
  reconstruct->add_option("--prompts", command.prompts, "default | slides | a folder with prompt templates")
      ->capture_default_str();
}

}  // namespace tenon::cli
