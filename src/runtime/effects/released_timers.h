#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "journal/store.h"
#include "runtime/run_core.h"

namespace tenon::runtime {

/// When the timers of runs that have left the memory are due, by the monotonic clock of this process. The store has
/// their times by the wall clock, which may be set while a run is not in memory.
class ReleasedTimers {
 public:
  /// So many runs are kept, which takes a few megabytes: those with the soonest timers. Of the others only the store
  /// has the time.
  static constexpr std::size_t kept_max = 10'000;

  /// The run leaves the memory. `now`: for timers whose time by the monotonic clock is not known yet.
  void keep(const journal::RunName& run, RunCore& core, const Moment& now);
  /// The run is in memory again: its requests that still have the same time are due when they were.
  void give_back(const journal::RunName& run, RunCore& core);
  /// The runs with a timer that is due by now. They are kept until they are given back or forgotten.
  [[nodiscard]] std::vector<journal::RunName> take_due(std::chrono::nanoseconds now);
  /// Until `take_due` returns something.
  [[nodiscard]] std::optional<std::chrono::milliseconds> time_to_next(std::chrono::nanoseconds now) const;
  /// Whether the run is kept, was not due yet, and has a timer with this recorded time, so that no other process has
  /// continued it.
  [[nodiscard]] bool waits(const journal::RunName& run, std::int64_t wake_at) const;
  void forget(const journal::RunName& run);

 private:
  struct Timer {
    std::string key;
    std::int64_t wake_at = 0;
    std::chrono::nanoseconds due{0};
  };
  using Order = std::multimap<std::chrono::nanoseconds, std::string>;
  struct Kept {
    std::vector<Timer> timers;
    std::optional<Order::iterator> place;  ///< none once it was taken
  };

  std::unordered_map<std::string, Kept> runs_;  ///< by name
  Order order_;                                 ///< names by when the first timer is due
};

}  // namespace tenon::runtime
