#include "engine/event_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "engine/store_access.h"

namespace tenon::engine {
namespace {

/// Read from the store or the feed at once.
constexpr std::size_t records_per_read = 256;
/// How many records before an outcome are searched for its request, which the reader has not taken.
constexpr std::uint64_t records_looked_back_max = 10'000;
/// Outcomes that are remembered, for pieces of their answers that come after them.
constexpr std::size_t outcomes_max = 1'024;

/// The key of the request or of the call that the record is about; empty for records of other kinds.
std::string_view key_of(const effects::Record& record) {
  if (const auto* const requested = std::get_if<effects::Requested>(&record.body)) return requested->key;
  if (const auto* const paused = std::get_if<effects::Paused>(&record.body)) return paused->key;
  if (const auto* const continued = std::get_if<effects::Continued>(&record.body)) return continued->key;
  if (const auto* const finished = std::get_if<effects::Finished>(&record.body)) return finished->key;
  return {};
}

bool is_end(protocol::EventKind kind) {
  return kind == protocol::EventKind::TurnEnd || kind == protocol::EventKind::TurnFailed ||
         kind == protocol::EventKind::TurnCancelled;
}

}  // namespace

EventReader::EventReader(EventHub& hub, journal::Store& store, ProgramAt program_at, journal::RunHead head,
                         std::uint64_t after, std::string file)
    : hub_(hub),
      store_(store),
      program_at_(std::move(program_at)),
      file_(std::move(file)),
      head_(std::move(head)),
      last_(after) {}

EventReader::~EventReader() {
  if (feed_) feed_->remove_reader(reader_);
}

void EventReader::watch(std::function<void()> notify) {
  feed_ = hub_.watch(head_.run);
  reader_ = feed_->add_reader(std::move(notify));
}

std::vector<EventReader::Read> EventReader::take(std::size_t bytes_max) {
  std::vector<Read> events;
  std::size_t bytes = 0;
  while (bytes < bytes_max && !problem_ && !is_at_end_) {
    if (feed_) skip_dropped();
    const std::size_t count = events.size();
    if (!has_read_store_) {
      take_stored(events, bytes, bytes_max);
    } else if (feed_) {
      take_fed(events, bytes, bytes_max);
    }
    for (std::size_t at = count; at < events.size(); ++at) may_have_ended_ |= is_end(events[at].event->kind);
    if (events.size() == count && has_read_store_) {
      look_for_end();
      break;
    }
  }
  return events;
}

/// The feed has dropped entries that were not taken: the store has their records.
void EventReader::skip_dropped() {
  const Feed::Window window = feed_->window();
  if (position_ >= window.begin) return;
  position_ = window.begin;
  if (window.changes == changes_) return;  // the next record shows whether one is missing
  changes_ = window.changes;
  has_read_store_ = false;
  may_have_ended_ = true;
}

void EventReader::take_stored(std::vector<Read>& events, std::size_t& bytes, std::size_t bytes_max) {
  if (feed_) read_until_ = feed_->window().end;
  const auto records = store_.read(head_.run, last_, records_per_read);
  if (!records) {
    problem_ = without_file(records.error().message, file_);
    return;
  }
  for (const journal::Record& raw : *records) {
    const auto record = effects::decode_record(raw.bytes);
    if (!record) {
      problem_ = fmt::format("record {} cannot be read: {}", raw.number, record.error().message);
      return;
    }
    auto event = event_of(raw.number, *record);
    if (problem_) return;
    last_ = raw.number;
    if (event) {
      bytes += event->json.size();
      events.push_back({std::move(event), false});
      if (bytes >= bytes_max) return;
    }
  }
  if (records->size() < records_per_read) has_read_store_ = true;
}

void EventReader::take_fed(std::vector<Read>& events, std::size_t& bytes, std::size_t bytes_max) {
  const auto entries = feed_->entries(position_, records_per_read);
  // What was read from the store is skipped, and so are the pieces of answers that it has as a whole.
  const auto was_read = [&](std::size_t at) {
    if (entries[at]->is_change) return position_ + at < read_until_;
    return entries[at]->number > 0 && entries[at]->number <= last_;
  };
  std::size_t known = entries.size();
  while (known > 0 && !was_read(known - 1)) --known;
  std::map<std::string, bool> written;
  for (std::size_t at = 0; at < known; ++at) {
    const FeedEntry& entry = *entries[at];
    if (entry.is_change) ++changes_;
    const bool is_piece = !entry.is_change && entry.number == 0;
    if (is_piece && !is_written(entry, written)) add_piece(entries[at], events, bytes);
  }
  position_ += known;
  for (std::size_t at = known; at < entries.size(); ++at) {
    const auto& entry = entries[at];
    if (entry->is_change) {
      ++position_;
      ++changes_;
      has_read_store_ = false;
      may_have_ended_ = true;
      return;
    }
    if (entry->number == 0) {
      ++position_;
      const bool is_late = std::ranges::find(outcomes_, entry->generation) != outcomes_.end();
      if (!is_late) add_piece(entry, events, bytes);
    } else {
      if (entry->number > last_ + 1) {
        has_read_store_ = false;  // the feed has dropped the records between; the store has them
        return;
      }
      if (entry->is_made) {
        follow(entry->number, entry->record);
      } else {
        auto event = event_of(entry->number, entry->record);
        if (problem_) return;
        entry->event = std::move(event);
        entry->is_made = true;
      }
      ++position_;
      last_ = entry->number;
      if (entry->event == nullptr) continue;
      events.push_back({entry->event, false});
      bytes += entry->event->json.size();
    }
    if (bytes >= bytes_max) return;
  }
}

void EventReader::add_piece(const std::shared_ptr<const FeedEntry>& entry, std::vector<Read>& events,
                            std::size_t& bytes) const {
  events.push_back({std::shared_ptr<const protocol::Event>(entry, &entry->delta), entry->is_answer});
  bytes += entry->delta.json.size();
}

/// Whether the answer to which the piece belongs is complete. `known`: of which generations that was looked up.
bool EventReader::is_written(const FeedEntry& piece, std::map<std::string, bool>& known) const {
  if (std::ranges::find(outcomes_, piece.generation) != outcomes_.end()) return true;
  const auto [found, is_new] = known.try_emplace(piece.generation, false);
  if (is_new) found->second = has_outcome(piece.generation);
  return found->second;
}

/// Whether the newest of the records up to the last one that was taken, and that are about this generation, is its
/// outcome. One whose request is not durable yet has none.
bool EventReader::has_outcome(const std::string& generation) const {
  const std::uint64_t oldest = last_ > records_looked_back_max ? last_ - records_looked_back_max : 0;
  for (std::uint64_t end = last_; end > oldest;) {
    const std::uint64_t begin = end > oldest + records_per_read ? end - records_per_read : oldest;
    const auto records = store_.read(head_.run, begin, end - begin);
    if (!records) return true;  // the complete answer is read later, or the problem is seen then
    for (const journal::Record& raw : std::ranges::reverse_view(*records)) {
      const auto record = effects::decode_record(raw.bytes);
      if (record && key_of(*record) == generation) return std::holds_alternative<effects::Finished>(record->body);
    }
    end = begin;
  }
  return false;
}

void EventReader::note_outcome(const effects::Record& record) {
  const auto* const finished = std::get_if<effects::Finished>(&record.body);
  if (finished == nullptr) return;
  if (outcomes_.size() == outcomes_max) outcomes_.pop_front();
  outcomes_.push_back(finished->key);
}

std::optional<std::string> EventReader::content_of(const effects::StoredText& text) const {
  auto content = runtime::resolve(store_, head_.run, text);
  if (!content) return std::nullopt;
  return std::move(*content);
}

/// Of the outcome or the answer with that number: finds the newest record before it that says what was requested.
void EventReader::look_back(std::uint64_t number, std::string_view key) {
  const std::uint64_t oldest = number > records_looked_back_max ? number - records_looked_back_max : 1;
  for (std::uint64_t end = number; end > oldest;) {
    const std::uint64_t begin = end > oldest + records_per_read ? end - records_per_read : oldest;
    const auto records = store_.read(head_.run, begin - 1, end - begin);
    if (!records) return;
    for (const journal::Record& raw : std::ranges::reverse_view(*records)) {
      const auto record = effects::decode_record(raw.bytes);
      if (!record || key_of(*record) != key) continue;
      values_.follow(*record, [this](const effects::StoredText& text) { return content_of(text); });
      return;
    }
    end = begin;
  }
}

/// Has the program of a record before its values are written; false after a problem.
bool EventReader::prepare(std::uint64_t number, const effects::Record& record) {
  if (has_program_ && !std::holds_alternative<effects::ProgramTaken>(record.body)) return true;
  auto program = program_at_(head_.run, number);
  has_program_ = program.has_value();
  if (has_program_) {
    values_.use(std::move(*program));
  } else {
    problem_ = without_file(program.error().message, file_);
  }
  return has_program_;
}

/// Of a record whose event another reader has made.
void EventReader::follow(std::uint64_t number, const effects::Record& record) {
  note_outcome(record);
  if (!prepare(number, record)) return;
  values_.follow(record, [this](const effects::StoredText& text) { return content_of(text); });
}

std::shared_ptr<const protocol::Event> EventReader::event_of(std::uint64_t number, const effects::Record& record) {
  note_outcome(record);
  if (!prepare(number, record)) return nullptr;
  if (values_.misses_request(record)) look_back(number, key_of(record));
  const protocol::Contents contents = [this](const effects::StoredText& text) { return content_of(text); };
  auto event = protocol::make_event({head_.run.text, {head_.summary.title, 0}, number}, record, contents, values_);
  values_.follow(record, contents);
  if (!event) return nullptr;
  return std::make_shared<const protocol::Event>(std::move(*event));
}

std::optional<journal::RunHead> EventReader::settled_head() {
  auto head = store_.head(head_.run);
  if (!head) {
    problem_ = without_file(head.error().message, file_);
    return std::nullopt;
  }
  if (head->records > last_) return std::nullopt;
  return std::move(*head);
}

void EventReader::look_for_end() {
  if (!may_have_ended_) return;
  const auto head = settled_head();
  if (!head) return;
  if (has_ended(head->summary.state)) is_at_end_ = true;
  may_have_ended_ = false;
}

}  // namespace tenon::engine
