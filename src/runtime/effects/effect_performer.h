#pragma once

#include <chrono>
#include <cstddef>
#include <optional>

#include "runtime/events.h"
#include "vm/request.h"

namespace tenon::runtime {

/// Performs effects of one kind (effects::Performer) outside of this thread, and owns those in progress. How they are
/// started differs; `Effects` asks all of them in the same way for the rest.
class EffectPerformer {
 public:
  virtual ~EffectPerformer() = default;

  [[nodiscard]] virtual bool is_in_progress(RunId run, vm::RequestId request) const = 0;
  /// The number of effects in progress.
  [[nodiscard]] virtual std::size_t size() const = 0;
  /// Whether one is in progress whose outcome arrives while nothing is polled.
  [[nodiscard]] virtual bool is_awaited() const = 0;
  /// Reports outcomes, waiting `wait` at most for one.
  virtual void poll(std::chrono::milliseconds wait) = 0;
  /// Ends those whose budget of time is spent.
  virtual void end_late() = 0;
  /// Until `end_late` has something to do.
  [[nodiscard]] virtual std::optional<std::chrono::milliseconds> time_to_late() = 0;
  /// Cancel one request, those of a run, those of all runs: there is no outcome.
  virtual void cancel(RunId run, vm::RequestId request) = 0;
  virtual void cancel(RunId run) = 0;
  virtual void cancel_all() = 0;
};

}  // namespace tenon::runtime
