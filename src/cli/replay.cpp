#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/engine_report.h"
#include "cli/run_report.h"
#include "engine/program.h"
#include "engine/store_access.h"
#include "engine/stored_run.h"
#include "runtime/runtime.h"

namespace tenon::cli {
namespace {

/// Prints the end of the run as `tenon run` does. Returns the exit code.
int report_end(const runtime::RecoveredRun& run, const vm::Step& end, const Environment& environment) {
  const vm::LoadedProgram& program = *run.image->loaded();
  if (const auto* const finished = std::get_if<vm::Finished>(&end)) {
    const types::TypeId type = program.program().functions[run.function].result;
    if (const auto text = shown_result(finished->value, type, program.types())) environment.write_output(*text);
    return exit_done;
  }
  if (const auto* const failed = std::get_if<vm::Failed>(&end)) {
    environment.write_error(runtime::describe_failure(program, failed->report));
    return exit_failed;
  }
  return fail("internal error: the program performed an operation that compiled programs never contain", environment);
}

/// How the run, or its newest turn, has ended according to the journal; nothing while it continues.
std::optional<effects::Ended::How> recorded_end(const runtime::RecoveredRun& run) {
  if (run.ended) return run.ended->how;
  if (run.turn_ended) return run.turn_ended->how;
  return std::nullopt;
}

/// Describes how two values of `subject` differ; empty if they are equal.
std::string difference(std::string_view subject, const std::string& recorded, const std::string& rebuilt) {
  const std::string left = effects::name_secrets(recorded);
  const std::string right = effects::name_secrets(rebuilt);
  if (left == right) return {};
  return fmt::format("{} differs from the recorded value:\n  recorded: {}\n  replayed: {}", subject, left, right);
}

/// Compares the value and the state of each turn with the recorded ones.
class TurnComparison final : public runtime::RecoveryObserver {
 public:
  explicit TurnComparison(journal::Store& store) : store_(store) {}
  void on_begun(runtime::RecoveredRun& /*run*/, const std::string& /*input*/) override { ++turn_; }
  void on_quiescent(runtime::RecoveredRun& /*run*/) override {}
  void on_outcome(runtime::RecoveredRun& /*run*/, const effects::Finished& /*finished*/,
                  const std::string& /*value*/) override {}
  void on_turn_ended(runtime::RecoveredRun& /*run*/) override {}
  void on_turn_rebuilt(runtime::RecoveredRun& run, types::TypeId result, const std::string& recorded) override {
    if (!difference_.empty()) return;
    const auto value = runtime::resolve(store_, run.head.run, run.turn_ended->value);
    std::string rebuilt;
    static_cast<void>(effects::write_value(std::get<vm::Finished>(*run.core->end()).value, result,
                                           run.image->program().types, rebuilt));
    difference_ =
        value ? difference(fmt::format("the value of turn {}", turn_), *value, rebuilt) : value.error().message;
    if (difference_.empty())
      difference_ = difference(fmt::format("the state after turn {}", turn_), recorded, run.conversation->state());
  }
  /// The first difference; empty if there is none.
  [[nodiscard]] const std::string& found() const { return difference_; }

 private:
  journal::Store& store_;
  std::size_t turn_ = 0;
  std::string difference_;
};

}  // namespace

int replay(const ReplayCommand& command, const Environment& environment) {
  const engine::System system = make_system(environment);
  const auto opened = engine::open_store(command.store, engine::StoreUse::Read, system);
  if (!opened) return report(opened.error(), environment);
  journal::Store& store = (*opened)->journals();
  const journal::RunName name{command.run};
  auto stored = engine::read_stored_run(store, name);
  if (!stored) return report(stored.error(), environment);
  auto program = stored->program.loaded;
  if (!command.program.empty()) {
    auto compiled = engine::compile({command.program}, system);
    if (!compiled) return report(compiled.error(), environment);
    report(compiled->warnings, environment);
    program = std::move(compiled->loaded);
  }
  const auto image = engine::make_image(std::move(program), std::move(stored->program.templates));
  const auto head = store.head(name);
  if (!head) return fail(head.error().message, environment);
  // A changed program replaces all programs that the run has had.
  const runtime::ImageSource changed = [&](const Hash&, std::string_view) { return image; };
  TurnComparison turns(store);
  const auto run = runtime::recover(store, *head, command.program.empty() ? engine::images_with(image) : changed,
                                    runtime::SnapshotUse::Ignore, {}, &turns);
  if (!run) return fail(run.error().message, environment);
  const auto recorded = recorded_end(*run);
  if (run->ended && run->ended->how == effects::Ended::How::Cancelled) {
    return fail(fmt::format("the run was cancelled: {}", run->ended->failure.message), environment);
  }
  const auto& end = run->core ? run->core->end() : std::optional<vm::Step>();
  if (!end) {
    if (recorded) return fail("the run has ended according to the journal, but the program continues", environment);
    notify(fmt::format("run {} has not ended", name.text), environment);
    return exit_waits;
  }
  const int code = report_end(*run, *end, environment);
  const bool has_returned = std::holds_alternative<vm::Finished>(*end);
  if (recorded && has_returned != (*recorded == effects::Ended::How::Returned)) {
    return fail("the run ended differently according to the journal", environment);
  }
  if (!turns.found().empty()) return fail(turns.found(), environment);
  if (!run->ended || !has_returned) return code;
  const auto value = runtime::resolve(store, run->head.run, run->ended->value);
  if (!value) return fail(value.error().message, environment);
  std::string rebuilt;
  const types::TypeId type = image->program().functions[run->function].result;
  static_cast<void>(effects::write_value(std::get<vm::Finished>(*end).value, type, image->program().types, rebuilt));
  const std::string changed_value = difference("the run's value", *value, rebuilt);
  return changed_value.empty() ? code : fail(changed_value, environment);
}

}  // namespace tenon::cli
