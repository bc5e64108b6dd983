#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/engine_report.h"
#include "cli/run_report.h"
#include "engine/program.h"
#include "engine/replay.h"
#include "engine/store_access.h"
#include "runtime/runtime.h"

namespace tenon::cli {
namespace {

/// Prints the end of the run as `tenon run` does. Returns the exit code.
int report_end(const runtime::RecoveredRun& run, const vm::Step& end, const Environment& environment) {
  const vm::LoadedProgram& program = *run.image->loaded();
  if (const auto* const finished = std::get_if<vm::Finished>(&end)) {
    const types::TypeId type = program.program().functions[run.function].result;
    return print_result(finished->value, type, program.types(), environment);
  }
  if (const auto* const failed = std::get_if<vm::Failed>(&end)) {
    environment.write_error(runtime::describe_failure(program, failed->report));
    return exit_failed;
  }
  return fail("internal error: the program performed an operation that compiled programs never contain", environment);
}

}  // namespace

int replay(const ReplayCommand& command, const Environment& environment) {
  const engine::System& system = environment.system;
  const auto opened = engine::open_store(command.store, engine::StoreUse::Read, system);
  if (!opened) return report(opened.error(), environment);
  std::shared_ptr<const vm::LoadedProgram> program;
  if (!command.program.empty()) {
    auto compiled = engine::compile({command.program}, system);
    if (!compiled) return report(compiled.error(), environment);
    report(compiled->warnings, environment);
    program = std::move(compiled->loaded);
  }
  const auto replayed = engine::replay((*opened)->journals(), {command.run}, std::move(program));
  if (!replayed) return report(replayed.error(), environment);
  const runtime::RecoveredRun& run = replayed->run;
  if (run.ended && run.ended->how == effects::Ended::How::Cancelled) {
    return fail(fmt::format("the run was cancelled: {}", run.ended->failure.message), environment);
  }
  int code = exit_waits;
  if (run.core && run.core->end()) {
    code = report_end(run, *run.core->end(), environment);
  } else if (replayed->difference.empty()) {
    notify(fmt::format("run {} has not ended", command.run), environment);
  }
  return replayed->difference.empty() ? code : fail(replayed->difference, environment);
}

}  // namespace tenon::cli
