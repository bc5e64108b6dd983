#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "runtime/effects/extern_calls.h"
#include "runtime/effects/generations.h"
#include "runtime/effects/requests.h"
#include "runtime/effects/timers.h"
#include "runtime/waits/questions.h"

namespace tenon::runtime {

/// Performs effects: passes each to what performs its kind, and waits for all of them together.
class Effects {
 public:
  /// All outlive this.
  Effects(RunTable& runs, Recorder& recorder, Requests& requests, Outcomes& outcomes, Timers& timers,
          Questions& questions, Generations& generations, ExternCalls& calls)
      : runs_(runs),
        recorder_(recorder),
        requests_(requests),
        outcomes_(outcomes),
        timers_(timers),
        questions_(questions),
        generations_(generations),
        calls_(calls) {}

  /// What the request needs is durable. Nothing happens if it was cancelled in the meantime.
  void perform(RunId run, const std::string& key);
  /// Of what a clean-up waits for, calls and generations may have been dropped when the process was interrupted: they
  /// are performed with the next commit.
  void perform_dropped(RunId run);
  [[nodiscard]] bool is_in_progress(RunId run, vm::RequestId request) const;
  /// Generations and calls in progress.
  [[nodiscard]] std::size_t in_progress() const { return generations_.size() + calls_.size(); }
  /// Whether an outcome can arrive while nothing is polled.
  [[nodiscard]] bool arrive_by_themselves() const { return calls_.size() > 0 || generations_.are_awaited(); }

  /// Acts on the timers that are due. Services are tried again with `Retries::Yes` only.
  enum class Retries : bool { No, Yes };
  void fire_timers(Retries retries);
  /// Until the next timer of a request fires; nothing when none is set.
  [[nodiscard]] std::optional<std::chrono::milliseconds> time_to_timer();
  /// Reports outcomes, waiting `wait` at most, and not beyond the next timer, for one. Something is in progress.
  void poll(std::chrono::milliseconds wait);

  /// Of one request, of a run, of all runs: there is no outcome.
  void cancel(RunId run, vm::RequestId request);
  void cancel(RunId run);
  void cancel_all();
  /// The run cannot continue here, and nothing of it has changed: another process, or a later attempt, can resume it.
  void detach(RunId run, RunDetached problem);

 private:
  RunTable& runs_;
  Recorder& recorder_;
  Requests& requests_;
  Outcomes& outcomes_;
  Timers& timers_;
  Questions& questions_;
  Generations& generations_;
  ExternCalls& calls_;
};

}  // namespace tenon::runtime
