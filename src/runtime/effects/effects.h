#pragma once

#include <array>
#include <chrono>
#include <optional>
#include <string>

#include "runtime/effects/extern_calls.h"
#include "runtime/effects/generations.h"
#include "runtime/effects/in_progress.h"
#include "runtime/effects/outcomes.h"
#include "runtime/effects/timers.h"
#include "runtime/waits/questions.h"

namespace tenon::runtime {

/// Performs effects: passes each to what performs its kind, and waits for all of them together.
class Effects {
 public:
  /// All outlive this.
  Effects(RunTable& runs, Recorder& recorder, Outcomes& outcomes, Timers& timers, Questions& questions,
          Generations& generations, ExternCalls& calls)
      : runs_(runs),
        recorder_(recorder),
        outcomes_(outcomes),
        timers_(timers),
        questions_(questions),
        generations_(generations),
        calls_(calls) {}

  /// What the request needs is durable. Nothing happens if it was cancelled in the meantime. After a failure the run
  /// cannot continue here, and nothing of it has changed: another process, or a later attempt, can resume it.
  [[nodiscard]] Result<void, effects::SecretError> perform(RunId run, const std::string& key);
  /// Performs, with the next commit, the calls and generations that a shield or a clean-up waits for and that were
  /// dropped when the process was interrupted, and sets the timers of what waits for a time. A call that is made at
  /// most once is not made again: a person decides what became of it, and without a store it fails.
  void perform_dropped(RunId run);
  /// The call's branch was cancelled, and ends with its outcome, because the call is made at most once: it is waited
  /// for until its own time is over, or `outlived_call_max`. Then a person decides what became of it, and without a
  /// store it fails. A call that was not made ends at once.
  void await_outcome(RunId run, vm::RequestId request);
  [[nodiscard]] bool is_in_progress(RunId run, vm::RequestId request) const;
  /// Generations and calls in progress.
  [[nodiscard]] std::size_t in_progress() const;
  [[nodiscard]] EffectsInProgress list_in_progress() const { return {generations_.size(), calls_.names()}; }
  /// The calls in progress of a run that are made at most once.
  [[nodiscard]] std::vector<OnceCall> list_once_calls(RunId run);
  /// Whether a quick extern may be called on this thread, from now on.
  enum class InlineCalls : bool { No, Yes };
  void allow_inline_calls(InlineCalls inline_calls) { inline_calls_ = inline_calls; }
  /// Whether an outcome can arrive while nothing is polled.
  [[nodiscard]] bool arrive_by_themselves() const;

  /// Acts on the timers that are due. Services are tried again with `Retries::Yes` only.
  enum class Retries : bool { No, Yes };
  void fire_timers(Retries retries);
  /// Until the next timer of a request fires; nothing when none is set.
  [[nodiscard]] std::optional<std::chrono::milliseconds> time_to_timer();
  /// Reports outcomes, waiting `wait` at most, and not beyond the next timer, for one. Something is in progress.
  void poll(std::chrono::milliseconds wait);

  /// Cancel one request, those of a run, those of all runs: there is no outcome.
  void cancel(RunId run, vm::RequestId request);
  void cancel(RunId run);
  void cancel_all();

 private:
  void end_outlived(RunId run, const std::string& key);

  RunTable& runs_;
  Recorder& recorder_;
  Outcomes& outcomes_;
  Timers& timers_;
  Questions& questions_;
  Generations& generations_;
  ExternCalls& calls_;
  InlineCalls inline_calls_ = InlineCalls::Yes;
  /// The last of them that has something in progress is waited for; what ends elsewhere wakes it.
  const std::array<EffectPerformer*, 2> performers_{&calls_, &generations_};
};

}  // namespace tenon::runtime
