#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "protocol/record_events.h"
#include "runtime/host.h"

namespace tenon::server {

/// One record of a run that has become durable, or a piece of an answer that is being written.
struct FeedEntry {
  std::uint64_t number = 0;  ///< 0: a piece
  effects::Record record;    ///< of what has a number
  protocol::Event delta;     ///< of a piece
  bool is_answer = false;    ///< a piece of what the run says
  std::size_t bytes = 0;     ///< about
  /// Made by the first reader, on the server's thread.
  mutable std::shared_ptr<const protocol::Event> event;
  mutable bool is_made = false;
};

/// The newest entries of a run that somebody reads, for all its readers together. Bounded: who falls behind goes on
/// with the store.
class Feed {
 public:
  /// Adds a reader; it is notified, on any thread, when there is more.
  std::uint64_t add_reader(std::function<void()> notify);
  void remove_reader(std::uint64_t reader);

  struct Window {
    std::uint64_t begin = 0;    ///< position of the oldest entry
    std::uint64_t changes = 0;  ///< counts what came without entries
  };
  [[nodiscard]] Window window() const;
  /// The entries from `position` on, `count_max` at most.
  [[nodiscard]] std::vector<std::shared_ptr<const FeedEntry>> entries(std::uint64_t position,
                                                                      std::size_t count_max) const;

 private:
  friend class EventHub;
  void append(std::shared_ptr<const FeedEntry> entry, std::size_t bytes_max);
  void notify_change();
  void notify();

  mutable std::mutex mutex_;
  std::deque<std::shared_ptr<const FeedEntry>> entries_;
  std::uint64_t begin_ = 0;
  std::size_t bytes_ = 0;
  std::uint64_t changes_ = 0;
  std::uint64_t next_reader_ = 1;
  std::unordered_map<std::uint64_t, std::function<void()>> readers_;
};

/// What the host tells, handed on to those who read it.
class EventHub final : public runtime::HostObserver {
 public:
  /// `tell`: something for people. `stop`: the store is broken.
  EventHub(std::size_t queue_bytes, std::function<void(std::string_view)> tell, std::function<void()> stop)
      : queue_bytes_(queue_bytes), tell_(std::move(tell)), stop_(std::move(stop)) {}

  /// The run's feed, made when nobody reads the run yet. Kept as long as somebody holds it.
  [[nodiscard]] std::shared_ptr<Feed> watch(const journal::RunName& run);

 private:
  void on_recorded(const journal::RunName& run, std::string_view agent, std::uint64_t first,
                   std::span<const effects::Record> records) override;
  void on_text(const journal::RunName& run, std::string_view agent, const runtime::TextProgress& text) override;
  void on_changed(const journal::RunName& run) override;
  void on_problem(std::string_view message) override { tell_(message); }
  void on_broken(std::string_view message) override;
  [[nodiscard]] std::shared_ptr<Feed> find(const journal::RunName& run);

  const std::size_t queue_bytes_;
  std::function<void(std::string_view)> tell_;
  std::function<void()> stop_;
  std::mutex mutex_;
  std::unordered_map<std::string, std::weak_ptr<Feed>> feeds_;
  std::size_t sweep_at_ = 64;
};

}  // namespace tenon::server
