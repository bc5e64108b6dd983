#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "journal/postgres/run_watches.h"
#include "journal/wakeups.h"

namespace tenon::journal::postgres {

/// Who watches all runs of the store: the watchers of this process, and the owners elsewhere that have some. It sends
/// and receives nothing itself. Any thread.
class StoreWatches {
 public:
  /// `wake`: there is something to send, or a watch has begun.
  explicit StoreWatches(std::function<void()> wake) : wake_(std::move(wake)) {}

  // The watchers of this process.
  [[nodiscard]] std::unique_ptr<Subscription> watch(Wakeups::StoreWatcher& watcher);
  [[nodiscard]] bool has_watchers_here() const;
  /// Whether a watch has begun since the last call.
  [[nodiscard]] bool take_has_new() { return has_new_.exchange(false); }
  /// Runs of an owner elsewhere have changed; without any, more than it could tell.
  void on_changed(std::span<const RunName> runs);
  /// Notices may have been lost.
  void on_missed() { on_changed({}); }

  // The runs of this owner.
  /// An owner elsewhere watches; it asks again from time to time.
  void on_watch(std::int64_t watcher, std::chrono::nanoseconds now);
  [[nodiscard]] bool is_watched() const { return watcher_count_ > 0; }
  void note_changed(std::span<const RunName> runs);
  [[nodiscard]] bool has_outgoing() const;
  /// Takes what is to be sent.
  [[nodiscard]] std::vector<OutgoingNotice> take_outgoing(std::chrono::nanoseconds now);
  /// This process is a new owner, without runs.
  void forget_watched();

 private:
  class Watch;

  const std::function<void()> wake_;

  mutable std::mutex here_mutex_;  ///< held while watchers are called, so that none is called after its end
  std::vector<Wakeups::StoreWatcher*> here_;
  std::atomic<bool> has_new_{false};

  mutable std::mutex elsewhere_mutex_;
  std::map<std::int64_t, std::chrono::nanoseconds> elsewhere_;  ///< owners, and until when they watch
  std::atomic<std::size_t> watcher_count_{0};
  std::set<std::string> changed_;
  bool has_too_many_ = false;
  std::uint64_t notices_ = 0;  ///< that were sent
};

/// All watches of a process and of its runs.
struct Watches {
  explicit Watches(const std::function<void()>& wake) : runs(wake), store(wake) {}

  RunWatches runs;
  StoreWatches store;
};

/// Runs that have changed since the last sending; of more, only the fact is sent.
inline constexpr std::size_t changed_runs_max = 2'000;

}  // namespace tenon::journal::postgres
