#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "journal/store.h"
#include "server/event_hub.h"

namespace tenon::server {

/// Reads a run's events in order, from any number on, as long as the run lasts: old ones from the store, new ones from
/// the feed, none left out and none twice. Used by the server's thread.
class EventReader {
 public:
  struct Read {
    std::shared_ptr<const protocol::Event> event;
    bool is_answer = false;  ///< a piece of what the run says
  };

  /// `store`: opened for reading.
  EventReader(EventHub& hub, journal::Store& store, journal::RunHead head, std::uint64_t after);
  ~EventReader();
  EventReader(const EventReader&) = delete;
  EventReader& operator=(const EventReader&) = delete;

  void watch(std::function<void()> notify);
  /// The next events, at least one if there is one; about `bytes_max` at most.
  [[nodiscard]] std::vector<Read> take(std::size_t bytes_max);
  /// Whether all has been taken that the run will ever have.
  [[nodiscard]] bool is_at_end() const { return is_at_end_; }
  /// Why reading has ended early.
  [[nodiscard]] const std::optional<std::string>& problem() const { return problem_; }
  /// The head, if nothing has been recorded that was not taken.
  [[nodiscard]] std::optional<journal::RunHead> settled_head();
  [[nodiscard]] const journal::RunName& run() const { return head_.run; }

 private:
  void take_stored(std::vector<Read>& events, std::size_t& bytes, std::size_t bytes_max);
  void take_fed(std::vector<Read>& events, std::size_t& bytes, std::size_t bytes_max);
  [[nodiscard]] std::shared_ptr<const protocol::Event> event_of(std::uint64_t number,
                                                                const effects::Record& record) const;
  void look_for_end();

  EventHub& hub_;
  journal::Store& store_;
  journal::RunHead head_;
  std::uint64_t last_ = 0;  ///< number of the newest record that was taken
  std::shared_ptr<Feed> feed_;
  std::uint64_t position_ = 0;  ///< in the feed
  std::uint64_t reader_ = 0;
  std::uint64_t changes_ = 0;
  bool has_read_store_ = false;  ///< since the feed was there, or since it changed
  bool may_have_ended_ = true;
  bool is_at_end_ = false;
  std::optional<std::string> problem_;
};

}  // namespace tenon::server
