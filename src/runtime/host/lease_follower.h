#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "journal/async_store.h"
#include "runtime/host/requests/pending_replies.h"
#include "runtime/host/run_loader.h"
#include "runtime/host/run_schedule.h"

namespace tenon::runtime {

/// What a host does as one of several owners of its store: it gives up runs that leave the memory, and joins again as a
/// new owner, without runs, when its lease was lost. Used by the host's thread.
class LeaseFollower {
 public:
  struct Parts {
    journal::AsyncStore& store;
    Runtime& runtime;
    RunLoader& loader;
    RunSchedule& schedule;
    PendingReplies& pending;
    std::function<std::int64_t()> now_ms;                           ///< by the monotonic clock
    std::function<void(const std::string& message)> report;         ///< a problem, for people
    std::function<void(const std::string& message)> report_solved;  ///< that it is over
  };
  explicit LeaseFollower(Parts parts) : parts_(std::move(parts)) {}
  LeaseFollower(const LeaseFollower&) = delete;
  LeaseFollower& operator=(const LeaseFollower&) = delete;

  /// Looks whether the lease was lost. Without it for a while, requests that wait for their records are refused: no one
  /// knows when the store can be reached again.
  void poll();
  /// Until `poll` has something to do; the longest time: not before the host is woken.
  [[nodiscard]] std::chrono::milliseconds time_to_next() const;
  /// Whether this process owns no runs, and cannot claim any, because it has not joined again.
  [[nodiscard]] bool is_without_lease() const { return is_without_lease_; }
  /// `resident`: how many runs the host has in memory. `released`: those that have left it, and only wait.
  void note_runs(std::size_t resident, std::vector<journal::RunName> released);

 private:
  void watch_outage(journal::LeaseState lease);
  void rejoin();

  const Parts parts_;
  bool is_without_lease_ = false;
  std::optional<std::int64_t> not_held_since_;  ///< milliseconds by `now_ms`
  bool is_outage_reported_ = false;
  std::optional<std::int64_t> rejoin_at_;  ///< milliseconds since 1970; nothing: it is joining, or need not
};

}  // namespace tenon::runtime
