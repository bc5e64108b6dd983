#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/event_reader.h"
#include "journal/store.h"

namespace tenon::server {

/// Some of a run's events, as a JSON list in their order.
struct EventPage {
  std::string list;
  std::uint64_t first = 0;  ///< the number of the first one; 0: there are none
  bool has_earlier = false;
};

struct EventPageLimits {
  std::size_t events = 0;
  std::size_t bytes = 0;        ///< about; the newest event is always part of the page
  std::size_t chunk_bytes = 0;  ///< read at once
};

/// Returns a reader of the run's events after a number.
using ReaderAfter = std::function<std::unique_ptr<engine::EventReader>(std::uint64_t after)>;

/// The newest events before the one of that number. An error, for people, if they cannot be read.
[[nodiscard]] Result<EventPage, std::string> read_events_before(const ReaderAfter& reader, std::uint64_t before,
                                                                const EventPageLimits& limits);

/// How many events runs have, and where they are. Remembers it: only new records are read. Used by one thread.
class EventCounts {
 public:
  [[nodiscard]] Result<std::uint64_t, journal::StoreError> count(journal::Store& store, const journal::RunName& run);
  /// The number of the record before that of the event with this position, from 0; of the last record if there are
  /// fewer events.
  [[nodiscard]] Result<std::uint64_t, journal::StoreError> find_before(journal::Store& store,
                                                                       const journal::RunName& run,
                                                                       std::uint64_t position);

 private:
  struct Counted {
    std::uint64_t records = 0;  ///< that were read
    std::uint64_t events = 0;
    std::vector<std::uint64_t> marks;  ///< the events before the records 1, 1 + mark_interval, and so on
  };
  std::map<std::string, Counted> runs_;  ///< by name
};

}  // namespace tenon::server
