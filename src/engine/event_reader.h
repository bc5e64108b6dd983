#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/event_hub.h"
#include "journal/store.h"
#include "protocol/run_values.h"

namespace tenon::engine {

/// Returns the program that makes the run's record of that number; null if the store does not have it or it cannot be
/// read.
using ProgramAt = std::function<Result<std::shared_ptr<const vm::LoadedProgram>, journal::StoreError>(
    const journal::RunName& run, std::uint64_t record)>;

/// Reads a run's events in order after any number, until the run ends: old ones from the store, new ones from the feed,
/// each exactly once. Used by the server's thread.
class EventReader {
 public:
  struct Read {
    std::shared_ptr<const protocol::Event> event;
    bool is_answer = false;  ///< a piece of the run's answer
  };

  /// `store`: opened for reading. `file`: its path, which problems do not name then.
  EventReader(EventHub& hub, journal::Store& store, ProgramAt program_at, journal::RunHead head, std::uint64_t after,
              std::string file = {});
  ~EventReader();
  EventReader(const EventReader&) = delete;
  EventReader& operator=(const EventReader&) = delete;

  void watch(std::function<void()> notify);
  /// Returns the next events, at least one if there is one, and at most about `bytes_max` bytes.
  [[nodiscard]] std::vector<Read> take(std::size_t bytes_max);
  /// Whether the run has ended and all its events were taken.
  [[nodiscard]] bool is_at_end() const { return is_at_end_; }
  /// Why reading failed.
  [[nodiscard]] const std::optional<std::string>& problem() const { return problem_; }
  /// The run's head; nothing while there are records that were not taken.
  [[nodiscard]] std::optional<journal::RunHead> settled_head();
  [[nodiscard]] const journal::RunName& run() const { return head_.run; }

 private:
  void skip_dropped();
  void take_stored(std::vector<Read>& events, std::size_t& bytes, std::size_t bytes_max);
  void take_fed(std::vector<Read>& events, std::size_t& bytes, std::size_t bytes_max);
  [[nodiscard]] std::optional<std::string> content_of(const effects::StoredText& text) const;
  [[nodiscard]] bool prepare(std::uint64_t number, const effects::Record& record);
  void follow(std::uint64_t number, const effects::Record& record);
  void look_back(std::uint64_t number, std::string_view key);
  [[nodiscard]] std::shared_ptr<const protocol::Event> event_of(std::uint64_t number, const effects::Record& record);
  [[nodiscard]] bool is_written(const FeedEntry& piece, std::map<std::string, bool>& known) const;
  [[nodiscard]] bool has_outcome(const std::string& generation) const;
  void note_outcome(const effects::Record& record);
  void add_piece(const std::shared_ptr<const FeedEntry>& entry, std::vector<Read>& events, std::size_t& bytes) const;
  void look_for_end();

  EventHub& hub_;
  journal::Store& store_;
  const ProgramAt program_at_;
  const std::string file_;
  journal::RunHead head_;
  std::uint64_t last_ = 0;  ///< number of the newest taken record
  std::shared_ptr<Feed> feed_;
  std::uint64_t position_ = 0;  ///< in the feed
  std::uint64_t reader_ = 0;
  std::uint64_t changes_ = 0;         ///< entries with `is_change` that were taken
  std::uint64_t read_until_ = 0;      ///< of the feed: the store was read after these entries had come
  bool has_read_store_ = false;       ///< since the feed was opened or has changed
  protocol::RunValues values_;        ///< as far as records were taken
  bool has_program_ = false;          ///< `values_` has the program of the next record
  std::deque<std::string> outcomes_;  ///< keys of the newest outcomes that were taken
  bool may_have_ended_ = true;
  bool is_at_end_ = false;
  std::optional<std::string> problem_;
};

}  // namespace tenon::engine
