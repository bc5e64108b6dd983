#include "runtime/recovery/known_outcomes.h"

#include <algorithm>

#include "base/wire.h"

namespace tenon::runtime {
namespace {

/// The fields of the content and of an entry; they are on disks.
enum : std::uint32_t { known_after = 1, known_entry = 2 };
enum : std::uint32_t { entry_request = 1, entry_record = 2 };

}  // namespace

KnownOutcomes::KnownOutcomes(std::uint64_t after, std::vector<Entry> entries)
    : after_(after), entries_(std::move(entries)), is_taken_(entries_.size(), false) {
  for (std::size_t at = 0; at < entries_.size(); ++at) by_request_[entries_[at].request].push_back(at);
}

std::string KnownOutcomes::encode() const {
  wire::Writer out;
  out.field(known_after, after_);
  for (const Entry& entry : entries_) {
    wire::Writer message;
    message.present_field(entry_request, entry.request.view());
    message.present_field(entry_record, effects::encode({0, entry.finished}));
    out.present_field(known_entry, message);
  }
  return out.take();
}

Result<KnownOutcomes, std::string> KnownOutcomes::decode(std::string_view bytes) {
  std::uint64_t after = 0;
  std::vector<Entry> entries;
  wire::Reader in(bytes);
  while (in.next_field()) {
    if (in.number() == known_after) {
      after = in.value();
      continue;
    }
    if (in.number() != known_entry) {
      in.reject();
      continue;
    }
    Entry& entry = entries.emplace_back();
    wire::Reader message(in.bytes_value());
    while (message.next_field()) {
      if (message.number() == entry_request) {
        const auto hash = Hash::from_bytes(message.bytes_value());
        if (hash) entry.request = *hash;
      } else if (message.number() == entry_record) {
        auto record = effects::decode_record(message.bytes_value());
        auto* const finished = record ? std::get_if<effects::Finished>(&record->body) : nullptr;
        if (finished != nullptr) entry.finished = std::move(*finished);
      } else {
        message.reject();
      }
    }
    if (!message.is_good() || entry.request.is_zero() || entry.finished.key.empty()) in.reject();
  }
  if (!in.is_good()) return failure(std::string("what the fork has from the other run cannot be read"));
  return KnownOutcomes(after, std::move(entries));
}

const effects::Finished* KnownOutcomes::take(const Hash& request, std::string_view key) {
  const auto found = by_request_.find(request);
  if (found == by_request_.end()) return nullptr;
  const std::vector<std::size_t>& places = found->second;
  auto chosen = std::find_if(places.begin(), places.end(),
                             [&](std::size_t at) { return !is_taken_[at] && entries_[at].finished.key == key; });
  if (chosen == places.end()) {
    chosen = std::find_if(places.begin(), places.end(), [&](std::size_t at) { return !is_taken_[at]; });
  }
  if (chosen == places.end()) return nullptr;
  is_taken_[*chosen] = true;
  open_[std::string(key)] = *chosen;
  ++taken_count_;
  return &entries_[*chosen].finished;
}

const effects::Finished* KnownOutcomes::find_taken(const std::string& key) const {
  const auto found = open_.find(key);
  return found == open_.end() ? nullptr : &entries_[found->second].finished;
}

std::vector<KnownOutcomes::Entry> KnownOutcomes::left() const {
  std::vector<Entry> entries;
  for (std::size_t at = 0; at < entries_.size(); ++at) {
    if (!is_taken_[at]) entries.push_back(entries_[at]);
  }
  return entries;
}

void KnownOutcomes::follow(std::uint64_t number, const effects::Record& record) {
  if (number <= after_) return;
  if (const auto* const requested = std::get_if<effects::Requested>(&record.body)) {
    static_cast<void>(take(requested->request, requested->key));
  } else if (const auto* const finished = std::get_if<effects::Finished>(&record.body)) {
    open_.erase(finished->key);
  }
}

Result<void, journal::StoreError> KnownOutcomes::follow(journal::RunReader& store, const journal::RunName& run,
                                                        std::uint64_t until) {
  for (std::uint64_t after = after_; after < until;) {
    const std::size_t limit = std::min<std::uint64_t>(records_per_read, until - after);
    const auto records = store.read(run, after, limit);
    if (!records) return failure(records.error());
    if (records->empty()) return {};
    for (const journal::Record& raw : *records) {
      after = raw.number;
      // One that cannot be read is reported by the code that needs it.
      if (const auto record = effects::decode_record(raw.bytes)) follow(raw.number, *record);
    }
  }
  return {};
}

}  // namespace tenon::runtime
