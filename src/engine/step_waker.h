#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>

#include "base/clock.h"
#include "base/waker.h"
#include "inference/model.h"
#include "tools/extern_caller.h"

namespace tenon::engine {

/// Ends the waits of an engine's steps, from any thread.
class StepWaker final {
 public:
  /// What waits for effects. Both outlive it. Before it is used.
  void set(inference::Model& model, tools::ExternCaller& caller) {
    model_ = &model;
    caller_ = &caller;
  }
  /// Ends the wait of a step, or else that of the next one: something has come from another thread.
  void stir() {
    model_->wake();
    caller_->wake();
    if (!is_stirred_.exchange(true)) waker_.wake();
  }
  /// The same, and the next `begin` returns true.
  void wake() {
    is_woken_ = true;
    stir();
  }

  /// A step begins, which then looks at everything. Returns whether it was woken. On the engine's thread, as the next.
  [[nodiscard]] bool begin() {
    if (is_stirred_.exchange(false)) waker_.clear();
    return is_woken_.exchange(false);
  }
  /// Waits for a timer.
  void wait(Clock& clock, std::chrono::milliseconds time) const {
    if (waker_.is_open()) return clock.wait(time, waker_);
    clock.wait(std::min(time, unwoken_wait));
  }

 private:
  /// Where nothing can end the wait: the process has too many open files.
  static constexpr std::chrono::milliseconds unwoken_wait{50};

  inference::Model* model_ = nullptr;
  tools::ExternCaller* caller_ = nullptr;
  const Waker waker_;
  std::atomic<bool> is_stirred_{false};  ///< since the last step has begun
  std::atomic<bool> is_woken_{false};
};

}  // namespace tenon::engine
