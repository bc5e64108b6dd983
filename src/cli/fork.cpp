#include "engine/fork.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/counted.h"
#include "cli/commands.h"
#include "cli/engine_report.h"
#include "cli/shown_store.h"
#include "engine/program.h"
#include "engine/store_access.h"

namespace tenon::cli {

int fork(const ForkCommand& command, const Environment& environment) {
  const engine::System& system = environment.system;
  engine::ForkChoice choice{.from = {command.run},
                            .at = command.at,
                            .budgets = command.budgets,
                            .model = command.model.spec,
                            .judge = command.model.judge,
                            .forkable = command.forkable};
  for (const std::string& library : command.externs) {
    choice.libraries.push_back(std::filesystem::absolute(library).lexically_normal().string());
  }
  auto store = engine::open_store(command.store, engine::StoreUse::ChangeExisting, system);
  if (!store) return report(store.error(), environment);
  journal::Store& journals = (*store)->journals();
  const journal::RunName name = journal::make_run_name(wall_ms(system.clock));
  if (!command.program.empty()) {
    auto compiled = engine::compile({command.program}, system);
    if (!compiled) return report(compiled.error(), environment);
    report(compiled->warnings, environment);
    choice.program = std::move(compiled->loaded);
  }
  auto prepared = engine::prepare_fork(journals, name, choice, command.store.path, system);
  if (!prepared && prepared.error().kind == engine::EngineError::Kind::Conflict) {
    return fail(fmt::format("{}; give a turn of a conversation its budget with `tenon chat --run {} --budget`",
                            prepared.error().message, command.run),
                environment, exit_usage);
  }
  if (!prepared) return report(prepared.error(), environment);
  if (const auto stored = algebra::commit_fork(journals, *prepared); !stored) {
    return fail(stored.error().message, environment);
  }
  const algebra::Forked forked = prepared->forked;
  notify(fmt::format("run {} is a fork of run {}", name.text, command.run), environment);
  if (forked.turns_left > 0) {
    notify(fmt::format("{} of run {} {} not part of it, because the recorded outcomes do not complete the turn "
                       "before\n  repeat the prompts with: tenon chat --run {} --store {}",
                       counted(forked.turns_left, "later turn"), command.run, forked.turns_left == 1 ? "is" : "are",
                       name.text, shown_store(command.store)),
           environment);
  }
  if (const auto head = journals.head(name); head && head->summary.state == journal::RunState::Idle) {
    return exit_done;  // a conversation whose turns have all ended
  }
  ResumeCommand resume_command;
  resume_command.run = name.text;
  resume_command.store = command.store;
  resume_command.model = command.model;
  resume_command.externs = command.externs;
  resume_command.trace = command.trace;
  resume_command.show_prompts = command.show_prompts;
  std::uint64_t taken_later = 0;
  const int code = continue_fork(resume_command, std::move(*store), taken_later, environment);
  const std::uint64_t taken = forked.taken + taken_later;
  notify(fmt::format("{} {} taken from run {}", counted(taken, "outcome"), taken == 1 ? "was" : "were", command.run),
         environment);
  return code;
}

}  // namespace tenon::cli
