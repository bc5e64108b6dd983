#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include "cli/chat_view.h"
#include "cli/environment.h"
#include "cli/run_report.h"
#include "cli/trace.h"
#include "engine/engine.h"
#include "runtime/listeners.h"

namespace tenon::cli {

/// When an answer of the model is shown to a person.
enum class ShownAnswers : std::uint8_t {
  WhenWhole,
  AsEmitted,  ///< when it is complete; texts that an agent emits are shown at once
  AsWritten,
};

/// How long `--wait` sleeps for the timers of a recorded run: until they are due.
inline constexpr std::chrono::milliseconds any_timer = std::chrono::hours(24) * 365 * 100;

/// An engine whose runs are shown at the terminal, and ask there where they have no store. The name of a new run is
/// printed once the store has the run.
class TerminalEngine {
 public:
  /// Sets the listener and the prompter of `options`. `environment` outlives the engine.
  [[nodiscard]] static Result<std::unique_ptr<TerminalEngine>, engine::EngineError> open(
      engine::EngineOptions options, std::unique_ptr<Trace> trace, ShownAnswers shown, const Environment& environment);
  /// Stops the engine: who has left a command for one of its runs gets the reply.
  ~TerminalEngine();
  TerminalEngine(const TerminalEngine&) = delete;
  TerminalEngine& operator=(const TerminalEngine&) = delete;

  [[nodiscard]] engine::Engine& engine() { return *engine_; }
  [[nodiscard]] runtime::Runtime& runtime() { return engine_->runtime(); }
  /// Shows an agent's texts while they are written; null if they are shown only when they are complete.
  [[nodiscard]] ChatView* view() { return view_ ? &*view_ : nullptr; }
  /// Removes the progress line from the terminal.
  void end_trace() { trace_->end(); }

 private:
  /// Prints the names of new runs, before the next listener hears of anything that they do.
  class NewRuns final : public runtime::Listeners {
   public:
    /// Both outlive it.
    NewRuns(runtime::Listener& next, const TerminalEngine& shown) : Listeners({&next}), shown_(shown) {}
    void on_recorded(const runtime::RecordBatch& batch) override;

   private:
    const TerminalEngine& shown_;
  };

  TerminalEngine(std::unique_ptr<Trace> trace, const Environment& environment)
      : environment_(environment), trace_(std::move(trace)), person_(environment) {}

  // In this order: later members use earlier ones.
  const Environment& environment_;
  std::unique_ptr<Trace> trace_;
  TerminalPrompter person_;
  std::optional<ChatView> view_;
  std::optional<NewRuns> new_runs_;
  std::unique_ptr<engine::Engine> engine_;
};

/// Whether a model's answers are read while they are written: by a person at the terminal, or by the program.
[[nodiscard]] engine::Watched watched_by(const Environment& environment, const bytecode::Program& program);

}  // namespace tenon::cli
