#pragma once

#include <atomic>
#include <compare>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/text_join.h"
#include "journal/wakeups.h"
#include "protocol/record_events.h"
#include "runtime/host/host.h"

namespace tenon::engine {

/// A durable record of a run, a piece of an answer that is being written, or that the store has more records.
struct FeedEntry {
  std::uint64_t number = 0;  ///< 0: no record
  bool is_change = false;    ///< the store has records that are not in the feed
  effects::Record record;    ///< with a number
  std::string generation;    ///< for a piece: which one writes it
  protocol::Event delta;     ///< for a piece
  bool is_answer = false;    ///< the piece belongs to the run's answer
  std::size_t bytes = 0;     ///< approximately
  /// Created by the first reader, on the server's thread.
  mutable std::shared_ptr<const protocol::Event> event;
  mutable bool is_made = false;
};

class RemoteRun;

/// The newest entries of a run, shared by all its readers. Bounded: a reader that is too slow continues with the
/// store.
class Feed {
 public:
  Feed();
  ~Feed();
  Feed(const Feed&) = delete;
  Feed& operator=(const Feed&) = delete;

  /// Adds a reader; it is notified, on any thread, when there is more.
  std::uint64_t add_reader(std::function<void()> notify);
  void remove_reader(std::uint64_t reader);

  struct Window {
    std::uint64_t begin = 0;    ///< position of the oldest entry
    std::uint64_t end = 0;      ///< position after the newest entry
    std::uint64_t changes = 0;  ///< how many entries with `is_change` there were
  };
  [[nodiscard]] Window window() const;
  /// At most `count_max` entries from `position`.
  [[nodiscard]] std::vector<std::shared_ptr<const FeedEntry>> entries(std::uint64_t position,
                                                                      std::size_t count_max) const;

 private:
  friend class EventHub;
  void append(std::shared_ptr<const FeedEntry> entry, std::size_t bytes_max);
  void append_change(std::size_t bytes_max);
  void notify();

  mutable std::mutex mutex_;
  std::deque<std::shared_ptr<const FeedEntry>> entries_;
  std::uint64_t begin_ = 0;
  std::size_t bytes_ = 0;
  std::uint64_t changes_ = 0;
  std::uint64_t next_reader_ = 1;
  std::unordered_map<std::uint64_t, std::function<void()>> readers_;
  std::mutex text_mutex_;  ///< so that pieces are added in the order in which they are joined
  TextJoin text_;
  std::unique_ptr<RemoteRun> remote_;  ///< last: it uses the others; null where no other process can own the run
};

/// What has changed.
struct Change {
  enum class Kind : std::uint8_t {
    Run,      ///< has new records
    Program,  ///< its file has other contents
    Missed,   ///< changes that were left out
  };
  Kind kind = Kind::Run;
  std::string name;  ///< of the run or the program

  friend auto operator<=>(const Change&, const Change&) = default;
};

/// The changes for one reader. Bounded: what changes again before it was taken is there once, and of too many changes
/// only the fact is kept.
class Changes final : private journal::Wakeups::StoreWatcher {
 public:
  static constexpr std::size_t changes_max = 10'000;

  /// `notify` is called, on any thread, when there is something to take. An empty one ends that.
  void watch(std::function<void()> notify);
  [[nodiscard]] std::optional<Change> take();

 private:
  friend class EventHub;
  void add(Change change);
  void add_missed();
  void on_changed(const journal::RunName& run) override { add({Change::Kind::Run, run.text}); }
  void on_missed() override { add_missed(); }

  std::mutex mutex_;
  std::deque<Change> order_;
  std::set<Change> waiting_;
  bool has_missed_ = false;
  std::function<void()> notify_;
  /// Of runs of other owners; last: it uses the others. Null where no other process can own a run.
  std::unique_ptr<journal::Subscription> others_;
};

/// Passes on what the host reports to the readers of each run.
class EventHub final : public runtime::HostObserver {
 public:
  using OnWaiting = std::function<void(const runtime::EffectsInProgress& effects, std::chrono::milliseconds grace)>;

  /// `report`: shows a message to the operator. `stop`: called with the reason when the store is broken. `waiting` and
  /// `solved`: as HostObserver::on_waiting and `on_solved`; may be empty.
  EventHub(std::size_t queue_bytes, std::function<void(std::string_view)> report,
           std::function<void(std::string_view)> stop, OnWaiting waiting = {},
           std::function<void(std::string_view)> solved = {})
      : queue_bytes_(queue_bytes),
        report_(std::move(report)),
        stop_(std::move(stop)),
        waiting_(std::move(waiting)),
        solved_(std::move(solved)) {}

  /// For feeds that are opened from now on, runs of other owners of the store are watched, too. Any thread.
  void watch_others(journal::Wakeups& wakeups);
  /// `repeat` makes the host tell once more what was written so far of a run's answers (Host::repeat_text); it is
  /// called for each feed that is opened from now on, whose first reader may have come too late for the beginning. Any
  /// thread.
  using Repeat = std::function<void(const journal::RunName& run)>;
  void catch_up_by(Repeat repeat);
  /// From now on they are not: neither the wakeups nor the host are used any more.
  void forget_others();
  /// The run's feed, created for its first reader and kept while a caller holds it.
  [[nodiscard]] std::shared_ptr<Feed> watch(const journal::RunName& run);
  /// The changes of programs and of all runs of the store from now on, as long as the caller holds it; those of other
  /// owners' runs within a second from now on.
  [[nodiscard]] std::shared_ptr<Changes> watch_all();
  /// Any thread.
  void add_program_change(const std::string& program);
  /// Shows a message to the operator. From any thread.
  void report(std::string_view message) const { report_(message); }

 private:
  void on_recorded(const journal::RunName& run, std::string_view agent, std::uint64_t first,
                   std::span<const effects::Record> records) override;
  void on_text(const journal::RunName& run, const runtime::TextProgress& text) override;
  void on_changed(const journal::RunName& run) override;
  void on_problem(std::string_view message) override { report_(message); }
  void on_solved(std::string_view message) override {
    if (solved_) solved_(message);
  }
  void on_broken(std::string_view message) override;
  void on_waiting(const runtime::EffectsInProgress& effects, std::chrono::milliseconds grace) override {
    if (waiting_) waiting_(effects, grace);
  }
  void add_change(const Change& change);
  [[nodiscard]] std::pair<std::shared_ptr<Feed>, Repeat> open(const journal::RunName& run);
  [[nodiscard]] std::shared_ptr<Feed> find(const journal::RunName& run);
  void add_text(Feed& feed, const journal::RunName& run, const runtime::TextProgress& text) const;

  const std::size_t queue_bytes_;
  std::function<void(std::string_view)> report_;
  std::function<void(std::string_view)> stop_;
  OnWaiting waiting_;
  std::function<void(std::string_view)> solved_;
  std::mutex mutex_;  ///< of the members below
  journal::Wakeups* wakeups_ = nullptr;
  Repeat repeat_;
  std::unordered_map<std::string, std::weak_ptr<Feed>> feeds_;
  std::vector<std::weak_ptr<Changes>> watchers_;
  std::atomic<bool> has_watchers_{false};  ///< so that without any, which is usual, no lock is taken for them
  std::size_t sweep_at_ = 64;
};

}  // namespace tenon::engine
