#include "algebra/recorded_parts.h"

#include <fmt/format.h>

#include <utility>

#include "runtime/recovery/known_outcomes.h"
#include "runtime/recovery/recovery.h"

namespace tenon::algebra {
namespace {

/// Above every record's number.
constexpr std::uint64_t first_inherited = std::uint64_t{1} << 62U;

/// Takes the records of a run, one after the other.
class PartsReader {
 public:
  PartsReader(journal::Store& store, const journal::RunName& run, std::uint64_t at, PartsRead read)
      : store_(store), run_(run), at_(at), read_(read) {}

  Result<RecordedParts, AlgebraError> run() {
    for (std::uint64_t after = 0;;) {
      auto records = store_.read(run_, after, runtime::records_per_read);
      if (!records) return failure(AlgebraError{std::move(records.error().message)});
      if (records->empty()) return std::move(parts_);
      for (const journal::Record& raw : *records) {
        after = raw.number;
        if (raw.number > at_ && read_ == PartsRead::UpTo) return std::move(parts_);
        auto record = effects::decode_record(raw.bytes);
        if (!record) {
          return failure(
              AlgebraError{fmt::format("run {}, record {}: {}", run_.text, raw.number, record.error().message)});
        }
        if (auto taken = take_record(raw.number, std::move(record->body)); !taken) return failure(taken.error());
      }
    }
  }

 private:
  Result<void, AlgebraError> take_record(std::uint64_t number, effects::RecordBody body) {
    if (auto* const requested = std::get_if<effects::Requested>(&body)) {
      identities_[requested->key] = requested->request;
      if (read_ == PartsRead::Everything) {
        parts_.requests[requested->key] = {number, requested->kind, std::move(requested->subject),
                                           std::move(requested->place)};
      }
    } else if (auto* const finished = std::get_if<effects::Finished>(&body)) {
      const auto identity = identities_.find(finished->key);
      if (identity == identities_.end()) return {};
      auto value = runtime::resolve(store_, run_, finished->value);
      if (!value) return failure(AlgebraError{std::move(value.error().message)});
      RecordedOutcome& outcome = parts_.outcomes[identity->second].emplace_back();
      outcome.key = finished->key;
      outcome.record = number;
      outcome.finished = std::move(*finished);
      outcome.value = std::move(*value);
      outcome.pauses = std::exchange(pauses_[outcome.key], {});
      outcome.is_later = number > at_;
    } else if (const auto* const paused = std::get_if<effects::Paused>(&body)) {
      pauses_[paused->key].push_back(*paused);
    } else if (const auto* const continued = std::get_if<effects::Continued>(&body)) {
      pauses_[continued->key].push_back(*continued);
    } else if (auto* const turn = std::get_if<effects::TurnStarted>(&body)) {
      if (number <= at_) parts_.turns.push_back(std::move(*turn));
    }
    return {};
  }

  journal::Store& store_;
  const journal::RunName& run_;
  const std::uint64_t at_;
  const PartsRead read_;
  RecordedParts parts_;
  std::unordered_map<std::string, Hash> identities_;
  std::unordered_map<std::string, std::vector<effects::RecordBody>> pauses_;
};

}  // namespace

Result<RecordedParts, AlgebraError> read_parts(journal::Store& store, const journal::RunName& run, std::uint64_t at,
                                               PartsRead read) {
  return PartsReader(store, run, at, read).run();
}

Result<void, AlgebraError> add_inherited(journal::Store& store, const journal::RunName& run, std::uint64_t at,
                                         const Hash& content, RecordedParts& parts) {
  const auto bytes = store.content(run, content);
  if (!bytes) return failure(AlgebraError{bytes.error().message});
  auto known = runtime::KnownOutcomes::decode(*bytes);
  if (!known) return failure(AlgebraError{known.error()});
  if (auto followed = known->follow(store, run, at); !followed) return failure(AlgebraError{followed.error().message});
  std::uint64_t number = first_inherited;
  for (runtime::KnownOutcomes::Entry& entry : known->left()) {
    auto value = runtime::resolve(store, run, entry.finished.value);
    if (!value) return failure(AlgebraError{std::move(value.error().message)});
    RecordedOutcome& outcome = parts.outcomes[entry.request].emplace_back();
    outcome.key = entry.finished.key;
    outcome.record = number++;
    outcome.finished = std::move(entry.finished);
    outcome.value = std::move(*value);
  }
  return {};
}

RecordedOutcome* take(RecordedParts& parts, const runtime::OpenRequest& open) {
  const auto found = parts.outcomes.find(open.described.identity);
  if (found == parts.outcomes.end()) return nullptr;
  RecordedOutcome* chosen = nullptr;
  const auto rank = [&](const RecordedOutcome& one) {
    return (one.is_later ? 2 : 0) + (one.key == open.request.key ? 0 : 1);
  };
  for (RecordedOutcome& one : found->second) {
    if (!one.is_taken && (chosen == nullptr || rank(one) < rank(*chosen))) chosen = &one;
    if (chosen != nullptr && rank(*chosen) == 0) break;
  }
  if (chosen != nullptr) chosen->is_taken = true;
  return chosen;
}

}  // namespace tenon::algebra
