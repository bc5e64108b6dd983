#include <fmt/format.h>

#include "algebra/compare.h"
#include "algebra/derived_forms.h"
#include "algebra/extract.h"
#include "algebra/form.h"
#include "algebra/npz.h"
#include "algebra/reconstruct.h"
#include "algebra/trust_steps.h"
#include "base/printable.h"
#include "cli/commands.h"
#include "cli/engine_report.h"
#include "engine/program.h"
#include "engine/store_access.h"
#include "engine/stored_run.h"

namespace tenon::cli {
namespace {

/// Limit for artifacts that are read from a file.
constexpr std::size_t artifacts_bytes_max = std::size_t{1} << 30U;

/// Returns nothing after printing why the run cannot be read.
std::optional<algebra::Interaction> read_interaction(journal::Store& store, const std::string& run,
                                                     const Environment& environment,
                                                     algebra::Form form = algebra::newest_form) {
  auto interaction = algebra::extract(store, {run}, engine::images_without_externs(), form);
  if (interaction) return std::move(*interaction);
  fail(interaction.error().message, environment);
  return std::nullopt;
}

int print_artifacts(const TraceCommand& command, const algebra::Artifacts& artifacts, const Environment& environment) {
  if (command.form == "npz") {
    const auto archive = algebra::write_npz(artifacts);
    if (!archive) return fail(archive.error().message, environment);
    environment.write_output(*archive);
    return exit_done;
  }
  environment.write_output(algebra::write_form(artifacts, command.form) + "\n");
  return exit_done;
}

int print_differences(const TraceCommand& command, const algebra::Interaction& a, const algebra::Interaction& b,
                      const Environment& environment) {
  const std::vector<algebra::Difference> differences =
      command.json ? algebra::compare(a.artifacts, b.artifacts) : algebra::compare_for_people(a, b);
  if (command.json) {
    environment.write_output(algebra::write_differences(differences) + "\n");
  } else if (differences.empty()) {
    environment.write_output("the runs are the same\n");
  }
  for (std::size_t at = 0; at < differences.size() && !command.json; ++at) {
    environment.write_output(show_hidden((at == 0 ? "the runs differ: " : "") + algebra::describe(differences[at])));
  }
  return differences.empty() ? exit_done : exit_failed;
}

int print_trust_steps(const TraceCommand& command, journal::Store& store, const Environment& environment) {
  const auto found = algebra::find_trust_steps(store, {command.run}, engine::images_without_externs());
  if (!found) return fail(found.error().message, environment);
  environment.write_output(command.json ? algebra::write_trust_steps(*found) + "\n"
                                        : show_hidden(algebra::draw_trust_steps(*found)));
  return exit_done;
}

int reconstruct(const TraceCommand& command, const Environment& environment) {
  std::string text;
  if (command.file == "-") {
    text = environment.read_input();
  } else {
    auto read = environment.system.files.read_file(command.file, artifacts_bytes_max);
    if (!read) return fail(fmt::format("cannot read `{}`: {}", command.file, read.error().message), environment);
    text = std::move(*read);
  }
  const auto artifacts = algebra::read_form(text);
  if (!artifacts) return fail(fmt::format("{}: {}", command.file, artifacts.error().message), environment);
  const engine::System& system = environment.system;
  std::vector<std::shared_ptr<const runtime::ProgramImage>> images;
  for (const std::string& file : command.programs) {
    auto compiled = engine::compile({file}, system);
    if (!compiled) return report(compiled.error(), environment);
    report(compiled->warnings, environment);
    auto templates = engine::load_prompt_templates(command.prompts, system);
    if (!templates) return report(templates.error(), environment);
    images.push_back(engine::make_image(std::move(compiled->loaded), std::move(*templates)));
  }
  const auto rebuilt = algebra::reconstruct(images, *artifacts);
  if (!rebuilt) return fail(rebuilt.error().message, environment);
  if (command.hash) {
    environment.write_output(algebra::name_of(rebuilt->artifacts) + "\n");
    return exit_done;
  }
  for (const std::string& event : rebuilt->events) environment.write_output(event + "\n");
  return exit_done;
}

}  // namespace

int trace(const TraceCommand& command, const Environment& environment) {
  using Verb = TraceCommand::Verb;
  if (command.verb == Verb::Reconstruct) return reconstruct(command, environment);
  const auto opened = engine::open_store(command.store, engine::StoreUse::Read, environment.system);
  if (!opened) return report(opened.error(), environment);
  journal::Store& store = (*opened)->journals();
  if (command.verb == Verb::Flow) return print_trust_steps(command, store, environment);
  const auto form = static_cast<algebra::Form>(command.form_version);
  const auto run = read_interaction(store, command.run, environment, form);
  if (!run) return exit_failed;
  switch (command.verb) {
    case Verb::Artifacts:
      return print_artifacts(command, run->artifacts, environment);
    case Verb::Hash:
      environment.write_output(algebra::name_of(run->artifacts) + "\n");
      return exit_done;
    case Verb::Show:
      environment.write_output(show_hidden(algebra::draw_calls(*run)));
      return exit_done;
    case Verb::Diff: {
      const auto other = read_interaction(store, command.other, environment);
      if (!other) return exit_failed;
      return print_differences(command, *run, *other, environment);
    }
    case Verb::Flow:
    case Verb::Reconstruct:
      break;
  }
  return exit_failed;
}

}  // namespace tenon::cli
