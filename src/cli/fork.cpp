#include "algebra/fork.h"

#include <fmt/format.h>

#include <filesystem>

#include "cli/commands.h"
#include "cli/engine_report.h"
#include "cli/shown_store.h"
#include "engine/program.h"
#include "engine/secret_key.h"
#include "engine/store_access.h"
#include "engine/stored_run.h"

namespace tenon::cli {

int fork(const ForkCommand& command, const Environment& environment) {
  algebra::ForkOptions options;
  options.now_ms = wall_ms(environment.system.clock);
  options.from = {command.run};
  options.at = command.at;
  options.name = journal::make_run_name(options.now_ms);
  options.model = command.model.spec;
  options.judge = command.model.judge;
  options.budgets = command.budgets;
  for (const std::string& library : command.externs) {
    options.libraries.push_back(std::filesystem::absolute(library).lexically_normal().string());
  }
  const engine::System& system = environment.system;
  effects::SecretVault secrets(engine::secret_keys(command.store.path, system));
  options.secrets = &secrets;
  algebra::Forked forked;
  {
    // Closes the store before the new run continues in it.
    const auto store = engine::open_store(command.store, engine::StoreUse::ChangeExisting, system);
    if (!store) return report(store.error(), environment);
    journal::Store& journals = (*store)->journals();
    auto stored = engine::read_stored_run(journals, options.from);
    if (!stored) return report(stored.error(), environment);
    const auto original = journals.head(options.from);
    if (!original) return fail(original.error().message, environment);
    if (command.at > original->records) {
      return fail(fmt::format("invalid value for `--at`: run {} has {} records", options.from.text, original->records),
                  environment, exit_usage);
    }
    auto program = stored->program.loaded;
    if (!command.program.empty()) {
      auto compiled = engine::compile({command.program}, system);
      if (!compiled) return report(compiled.error(), environment);
      report(compiled->warnings, environment);
      program = std::move(compiled->loaded);
    }
    const auto image = engine::make_image(std::move(program), std::move(stored->program.templates));
    auto begun = algebra::fork(journals, options, image);
    if (!begun) return fail(begun.error().message, environment);
    forked = *begun;
    notify(fmt::format("run {} is a fork of run {}", options.name.text, options.from.text), environment);
    if (forked.turns_left > 0) {
      notify(fmt::format("{} later turns of run {} are not part of it, because the recorded outcomes do not complete "
                         "the turn before them\n  repeat their prompts with: tenon chat --run {} --store {}",
                         forked.turns_left, options.from.text, options.name.text, shown_store(command.store)),
             environment);
    }
    if (const auto head = journals.head(options.name); head && head->summary.state == journal::RunState::Idle) {
      return exit_done;  // a conversation whose turns have all ended
    }
  }
  ResumeCommand resume_command;
  resume_command.run = options.name.text;
  resume_command.store = command.store;
  resume_command.model = command.model;
  resume_command.externs = command.externs;
  resume_command.trace = command.trace;
  resume_command.show_prompts = command.show_prompts;
  std::uint64_t taken_later = 0;
  const int code = resume(resume_command, environment, &taken_later);
  notify(fmt::format("{} outcomes were taken from run {}", forked.taken + taken_later, options.from.text), environment);
  return code;
}

}  // namespace tenon::cli
