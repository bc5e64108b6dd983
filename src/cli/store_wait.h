#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "cli/command_line.h"
#include "cli/environment.h"

namespace tenon::cli {

/// Waits until the process that uses a store, or continues a run of it, has ended. What is waited for is tried again
/// at short intervals: nothing announces that a process was killed.
class StoreWait {
 public:
  /// Of a store in a file, whose lock costs next to nothing to try; of a run in a database.
  static constexpr std::chrono::milliseconds file_interval{20};
  static constexpr std::chrono::milliseconds database_interval{250};

  /// `interval`: between two tries. `environment` outlives this.
  StoreWait(const StoreWaitChoice& choice, std::chrono::milliseconds interval, const Environment& environment);

  /// Waits for the interval and returns true: the store is to be tried again. False without the option, once the time
  /// is over, and when the process is asked to stop. `why`: who uses the store, which is shown, again if it changes.
  [[nodiscard]] bool may_try_again(std::string_view why);
  /// Whether a signal has ended the wait.
  [[nodiscard]] bool was_stopped() const { return was_stopped_; }

 private:
  void show(std::string_view why);

  const StoreWaitChoice choice_;
  const std::chrono::milliseconds interval_;
  const Environment& environment_;
  std::optional<std::chrono::nanoseconds> end_;  ///< by the monotonic clock, since the first try has failed
  std::string shown_;
  bool was_stopped_ = false;
};

}  // namespace tenon::cli
