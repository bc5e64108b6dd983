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
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "journal/postgres/notices.h"
#include "journal/wakeups.h"

namespace tenon::journal::postgres {

/// A notice for an owner.
struct OutgoingNotice {
  std::int64_t owner = 0;
  std::string text;
};

/// Who watches which runs: the watchers of this process, and the owners elsewhere that watch runs of this one. It sends
/// and receives nothing itself. Any thread.
class RunWatches {
 public:
  /// `wake`: there is something to send, or to look at.
  explicit RunWatches(std::function<void()> wake) : wake_(std::move(wake)) {}

  // The watchers of this process.
  [[nodiscard]] std::unique_ptr<Subscription> watch(const RunName& run, Wakeups::Watcher& watcher);
  /// The runs that they watch.
  [[nodiscard]] std::vector<RunName> watched_here() const;
  /// Whether a watch has begun since the last call.
  [[nodiscard]] bool take_has_new() { return has_new_.exchange(false); }
  void on_changed(std::span<const RunName> runs);
  void on_messages(const MessagesNotice& notice);
  /// What the table says of a run: its owner, and its number of appends. Calls the watchers if it differs from before.
  void on_seen(const RunName& run, std::int64_t owner, std::uint64_t appends);

  // The runs of this owner.
  /// An owner elsewhere has asked for them; it asks again from time to time.
  void on_watch(const WatchNotice& notice, std::chrono::nanoseconds now);
  [[nodiscard]] bool is_watched(const RunName& run) const;
  /// As Wakeups::on_watched.
  void on_watched(std::function<void(const RunName& run)> notify);
  /// These runs were changed by a commit.
  void note_changed(std::span<const RunName> runs);
  void publish(const RunName& run, std::string_view message);
  /// Whether there is something to send.
  [[nodiscard]] bool has_outgoing() const;
  /// Takes what is to be sent. `self`: this owner's id. Of each run, messages and changes are in the order in which
  /// they were published and noted, so that a watcher has a message before the records that make it obsolete.
  [[nodiscard]] std::vector<OutgoingNotice> take_outgoing(std::int64_t self, std::chrono::nanoseconds now);
  /// This process is a new owner, without runs.
  void forget_watched();

 private:
  class Watch;

  void end(const RunName& run, Wakeups::Watcher& watcher);

  const std::function<void()> wake_;

  mutable std::mutex here_mutex_;  ///< held while watchers are called, so that none is called after its end
  struct Here {
    std::vector<Wakeups::Watcher*> watchers;
    std::int64_t owner = 0;
    std::uint64_t appends = 0;
    bool is_seen = false;
    // Of the message that arrives.
    std::int64_t sender = 0;
    std::uint64_t number = 0;
    std::uint64_t parts = 0;
    std::string text;
  };
  std::unordered_map<std::string, Here> here_;
  std::atomic<bool> has_new_{false};

  std::mutex watched_mutex_;  ///< held while it is called, so that it is not called after its end
  std::function<void(const RunName& run)> watched_;

  mutable std::mutex elsewhere_mutex_;
  /// Of a run of this owner, for an owner elsewhere that watches it.
  struct Elsewhere {
    std::chrono::nanoseconds until{};
    std::uint64_t next_number = 0;
  };
  std::unordered_map<std::string, std::map<std::int64_t, Elsewhere>> elsewhere_;
  std::atomic<std::size_t> elsewhere_count_{0};
  /// What is to be sent together: first the messages, then the changes.
  struct Phase {
    std::vector<std::pair<std::string, std::string>> messages;  ///< runs and messages, in order
    std::set<std::string> changed;
  };
  std::vector<Phase> outgoing_;
  std::unordered_map<std::string, std::size_t> phase_of_;  ///< of a run: the last phase that has something of it
  std::size_t outgoing_bytes_ = 0;                         ///< of messages
  std::uint64_t change_notices_ = 0;                       ///< that were sent
  [[nodiscard]] Phase& phase_at(std::size_t at);
  void clear_outgoing();
};

/// For how long a watch holds that is not renewed, and how often it is renewed.
inline constexpr std::chrono::milliseconds watch_time{5'000};
inline constexpr std::chrono::milliseconds watch_interval{1'000};
/// Messages that wait to be sent; further ones are dropped.
inline constexpr std::size_t outgoing_bytes_max = std::size_t{1} << 20U;

}  // namespace tenon::journal::postgres
