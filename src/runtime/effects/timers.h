#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "runtime/scheduling/run_table.h"

namespace tenon::runtime {

/// When open requests are to be woken (OpenRequest::wake_at). A timer is stale once its request has another time, an
/// outcome, or none any more.
class Timers {
 public:
  /// `runs` outlives this.
  explicit Timers(RunTable& runs) : runs_(runs) {}

  struct Timer {
    RunId run;
    std::string key;
  };
  /// `time`: milliseconds since 1970.
  void add(std::int64_t time, RunId run, std::string key);
  /// The next timer that is due and not stale; it is removed.
  [[nodiscard]] std::optional<Timer> take_due(std::int64_t now_ms);
  /// Until the next timer is due; nothing when none is set. Drops stale ones.
  [[nodiscard]] std::optional<std::chrono::milliseconds> time_to_next(std::int64_t now_ms);
  /// Removes the timers of a run.
  void remove(RunId run);

 private:
  [[nodiscard]] bool is_stale(std::int64_t time, const Timer& timer) const;

  RunTable& runs_;
  std::multimap<std::int64_t, Timer> timers_;  ///< by time
};

}  // namespace tenon::runtime
