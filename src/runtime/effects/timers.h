#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "runtime/scheduling/run_table.h"

namespace tenon::runtime {

/// When open requests are to be woken (OpenRequest::due), by the monotonic clock. A timer is stale once its request has
/// another time, an outcome, or none any more.
class Timers {
 public:
  /// `runs` outlives this.
  explicit Timers(RunTable& runs) : runs_(runs) {}

  struct Timer {
    RunId run;
    std::string key;
  };
  /// The open request has a time at which it is woken. Does nothing if it has this timer.
  void add(RunId run, std::string key, const Moment& now);
  /// The next timer that is due and not stale; it is removed.
  [[nodiscard]] std::optional<Timer> take_due(std::chrono::nanoseconds now);
  /// Until the next timer is due; nothing when none is set. Drops stale ones.
  [[nodiscard]] std::optional<std::chrono::milliseconds> time_to_next(std::chrono::nanoseconds now);
  /// Removes the timers of a run.
  void remove(RunId run);

 private:
  struct Set {
    Timer timer;
    std::int64_t wake_at = 0;  ///< as the request had it
  };
  [[nodiscard]] bool is_stale(const Set& set) const;

  RunTable& runs_;
  std::multimap<std::chrono::nanoseconds, Set> timers_;  ///< by when they are due
};

}  // namespace tenon::runtime
