#include "engine/replay.h"

#include <fmt/format.h>

#include "effects/value_form.h"
#include "engine/program.h"
#include "engine/store_access.h"
#include "engine/stored_run.h"

namespace tenon::engine {
namespace {

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

/// Why the run does not end as its journal says, or with another value; empty if it does.
std::string compare_ends(journal::Store& store, const runtime::RecoveredRun& run, const std::string& turns) {
  const auto recorded = recorded_end(run);
  const auto& end = run.core ? run.core->end() : std::optional<vm::Step>();
  if (!end) return recorded ? "the run has ended according to the journal, but the program continues" : "";
  const auto* const finished = std::get_if<vm::Finished>(&*end);
  if (recorded && (finished != nullptr) != (*recorded == effects::Ended::How::Returned)) {
    return "the run ended differently according to the journal";
  }
  if (!turns.empty() || !run.ended || finished == nullptr) return turns;
  const auto value = runtime::resolve(store, run.head.run, run.ended->value);
  if (!value) return value.error().message;
  std::string rebuilt;
  const bytecode::Program& program = run.image->program();
  static_cast<void>(
      effects::write_value(finished->value, program.functions[run.function].result, program.types, rebuilt));
  return difference("the run's value", *value, rebuilt);
}

}  // namespace

Result<Replayed, EngineError> replay(journal::Store& store, const journal::RunName& name,
                                     std::shared_ptr<const vm::LoadedProgram> program) {
  auto stored = read_stored_run(store, name);
  if (!stored) return failure(std::move(stored.error()));
  const bool is_changed = program != nullptr;
  const auto image =
      make_image(is_changed ? std::move(program) : stored->program.loaded, std::move(stored->program.templates));
  const auto head = store.head(name);
  if (!head) return failure(to_error(head.error()));
  const runtime::ImageSource changed = [&](const Hash&, std::string_view) { return image; };
  TurnComparison turns(store);
  auto run = runtime::recover(store, *head, is_changed ? changed : images_with(image), runtime::SnapshotUse::Ignore, {},
                              &turns);
  if (!run) return failure(to_error(run.error()));
  std::string found = compare_ends(store, *run, turns.found());
  return Replayed{std::move(*run), std::move(found)};
}

}  // namespace tenon::engine
