#include "server/event_pages.h"

#include <algorithm>
#include <deque>
#include <vector>

#include "effects/record.h"
#include "protocol/record_events.h"

namespace tenon::server {
namespace {

/// The records of further runs are read again.
constexpr std::size_t counted_runs_max = 4'096;
/// Of a run at once.
constexpr std::size_t counted_records_per_read = 4'096;
/// Records between two marks, which are read again to find an event.
constexpr std::uint64_t mark_interval = 1'024;

bool has_event(const journal::Record& raw) {
  const auto record = effects::decode_record(raw.bytes);
  return record && protocol::has_event(*record);
}

using Events = std::deque<std::shared_ptr<const protocol::Event>>;

/// Adds the events of the records from `begin` to before `end` in front of those that are there.
Result<void, std::string> add_in_front(const ReaderAfter& make, std::uint64_t begin, std::uint64_t end,
                                       std::size_t chunk_bytes, Events& events) {
  const auto reader = make(begin - 1);
  std::vector<std::shared_ptr<const protocol::Event>> found;
  for (bool is_past = false; !is_past;) {
    const auto read = reader->take(chunk_bytes);
    if (reader->problem()) return failure(*reader->problem());
    is_past = read.empty();
    for (const engine::EventReader::Read& one : read) {
      is_past = is_past || one.event->number >= end;
      if (!is_past) found.push_back(one.event);
    }
  }
  events.insert(events.begin(), found.begin(), found.end());
  return {};
}

}  // namespace

Result<EventPage, std::string> read_events_before(const ReaderAfter& reader, std::uint64_t before,
                                                  const EventPageLimits& limits) {
  Events events;
  std::uint64_t end = before;
  // As if each record had an event. Where many have none, the second look is at twice as many, and so on.
  for (std::uint64_t width = limits.events; end > 1 && events.size() < limits.events; width *= 2) {
    const std::uint64_t begin = end - std::min<std::uint64_t>(end - 1, width);
    if (auto added = add_in_front(reader, begin, end, limits.chunk_bytes, events); !added) {
      return failure(std::move(added.error()));
    }
    end = begin;
  }
  std::size_t bytes = 0;
  std::size_t count = 0;
  while (count < events.size() && count < limits.events && (count == 0 || bytes < limits.bytes)) {
    bytes += (*(events.rbegin() + static_cast<std::ptrdiff_t>(count)))->json.size();
    ++count;
  }
  EventPage page{"[", 0, end > 1 || count < events.size()};
  for (std::size_t at = events.size() - count; at < events.size(); ++at) {
    if (page.first == 0) page.first = events[at]->number;
    page.list += (page.list.size() > 1 ? "," : "") + events[at]->json;
  }
  page.list += ']';
  return page;
}

Result<std::uint64_t, journal::StoreError> EventCounts::count(journal::Store& store, const journal::RunName& run) {
  if (!runs_.contains(run.text) && runs_.size() >= counted_runs_max) runs_.clear();
  Counted& counted = runs_[run.text];
  for (;;) {
    const auto records = store.read(run, counted.records, counted_records_per_read);
    if (!records) return failure(records.error());
    for (const journal::Record& raw : *records) {
      if (raw.number % mark_interval == 1) counted.marks.push_back(counted.events);
      if (has_event(raw)) ++counted.events;
      counted.records = raw.number;
    }
    if (records->size() < counted_records_per_read) return counted.events;
  }
}

Result<std::uint64_t, journal::StoreError> EventCounts::find_before(journal::Store& store, const journal::RunName& run,
                                                                    std::uint64_t position) {
  if (const auto events = count(store, run); !events) return failure(events.error());
  const Counted& counted = runs_[run.text];
  if (position >= counted.events) return counted.records;
  const auto mark = std::ranges::upper_bound(counted.marks, position) - counted.marks.begin() - 1;
  std::uint64_t left = position - counted.marks[static_cast<std::size_t>(mark)];
  const auto records = store.read(run, static_cast<std::uint64_t>(mark) * mark_interval, mark_interval);
  if (!records) return failure(records.error());
  for (const journal::Record& raw : *records) {
    if (!has_event(raw)) continue;
    if (left-- == 0) return raw.number - 1;
  }
  return counted.records;
}

}  // namespace tenon::server
