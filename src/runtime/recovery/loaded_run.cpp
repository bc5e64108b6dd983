#include "runtime/recovery/loaded_run.h"

#include <algorithm>
#include <utility>

#include "base/ensure.h"
#include "base/wire.h"
#include "effects/pieces.h"
#include "runtime/recovery/known_outcomes.h"
#include "runtime/recovery/snapshot_fields.h"
#include "runtime/scheduling/parked_runs.h"
#include "vm/values/context.h"

namespace tenon::runtime {

// Bytes that cannot be decoded are left out here: the recovery finds the same bytes, and reports the problem.

LoadedRun::LoadedRun(journal::RunReader& store, journal::RunHead head, SnapshotUse use)
    : LoadedRun(store, std::move(head), use, nullptr) {}

LoadedRun::LoadedRun(journal::RunReader& store, journal::RunHead head, SnapshotUse use,
                     std::shared_ptr<ParkedRun> parked)
    : store_(&store), head_(std::move(head)), use_(use) {
  if (parked && parked->after <= head_.records) {
    after_ = parked->after;
    load_records();
    if (continues(*parked)) parked_ = std::move(parked);
  }
  if (!parked_) load_all();
  store_ = nullptr;
}

bool LoadedRun::continues(const ParkedRun& parked) const {
  if (records_error_ || parked.after + records_.size() != head_.records) return false;
  Hash chain = parked.chain;
  for (const journal::Record& record : records_) chain = sha256(chain.view(), record.bytes);
  return chain == head_.chain;
}

void LoadedRun::load_all() {
  after_ = 1;
  records_.clear();
  records_error_.reset();
  contents_.clear();
  if (use_ == SnapshotUse::Use) snapshot_ = store_->snapshot(head_.run);
  if (snapshot_ && *snapshot_) {
    after_ = (*snapshot_)->after;
    load_snapshot((*snapshot_)->bytes);
  }
  load_first();
  load_records();
}

void LoadedRun::load_snapshot(std::string_view bytes) {
  wire::Reader in(bytes);
  while (in.next_field()) {
    if (in.number() == snapshot_asked) {
      static_cast<void>(in.value());
      continue;
    }
    const std::string_view part = in.bytes_value();
    if (in.number() == snapshot_conversation) {
      load_conversation(part);
    } else if (in.number() == snapshot_start) {
      load_start(part);
    } else if (in.number() == snapshot_core) {
      wire::Reader core(part);
      while (core.next_field()) {
        const std::string_view field = core.bytes_value();
        if (core.number() == snapshot_record) load_contents(field);
      }
    }
  }
}

void LoadedRun::load_conversation(std::string_view bytes) {
  wire::Reader in(bytes);
  Hash history, older;
  bool has_recent = false;
  while (in.next_field()) {
    const std::uint32_t number = in.number();
    if (number == conversation_turns) {
      static_cast<void>(in.value());
      continue;
    }
    const std::string_view part = in.bytes_value();
    const std::optional<Hash> hash = Hash::from_bytes(part);
    has_recent = has_recent || number == conversation_recent;
    if (number == conversation_program && hash) load_content(*hash);
    if (number == conversation_history && hash) history = *hash;
    if (number == conversation_older && hash) older = *hash;
    if (number == conversation_state_pieces && hash) load_text({{}, *hash, true});
  }
  load_context(has_recent ? older : history);
}

void LoadedRun::load_context(Hash node) {
  while (!node.is_zero() && !contents_.contains(node)) {
    const auto& bytes = load_content(node);
    std::uint8_t role = 0;
    std::string text;
    if (!bytes || !vm::read_recorded_node(*bytes, node, role, text)) return;
  }
}

/// The run's start, unless the snapshot has it. The arguments are needed only by a run that begins with it.
void LoadedRun::load_start(std::string_view bytes) {
  const auto record = effects::decode_record(bytes);
  const auto* const started = record ? std::get_if<effects::Started>(&record->body) : nullptr;
  if (started == nullptr) return;
  has_start_ = true;
  load_content(started->program);
  if (started->known) load_known(*started->known);
}

void LoadedRun::load_first() {
  if (has_start_) return;
  first_ = store_->read(head_.run, 0, 1);
  if (!first_ || first_->empty()) return;
  load_start(first_->front().bytes);
  load_contents(first_->front().bytes);
}

void LoadedRun::load_known(const Hash& hash) {
  const auto& bytes = load_content(hash);
  const auto known = bytes ? KnownOutcomes::decode(*bytes) : failure(std::string());
  if (!known) return;
  after_ = std::min(after_, known->after());
  for (const KnownOutcomes::Entry& entry : known->entries()) load_text(entry.finished.value);
}

void LoadedRun::load_records() {
  std::uint64_t after = after_;
  while (true) {
    auto records = store_->read(head_.run, after, records_per_read);
    if (!records) {
      records_error_ = std::move(records.error());
      return;
    }
    if (records->empty()) return;
    after = records->back().number;
    for (journal::Record& record : *records) {
      load_contents(record.bytes);
      records_.push_back(std::move(record));
    }
    if (after >= head_.records) return;  // no other owner adds any
  }
}

void LoadedRun::load_contents(std::string_view record_bytes) {
  if (const auto record = effects::decode_record(record_bytes)) load_contents(record->body);
}

void LoadedRun::load_contents(const effects::RecordBody& record) {
  if (const auto* const started = std::get_if<effects::Started>(&record)) {
    load_text(started->arguments);
  } else if (const auto* const turn = std::get_if<effects::TurnStarted>(&record)) {
    load_text(turn->input);
  } else if (const auto* const ended = std::get_if<effects::TurnEnded>(&record)) {
    load_text(ended->state);
  } else if (const auto* const taken = std::get_if<effects::ProgramTaken>(&record)) {
    load_content(taken->program);
    load_text(taken->state);
  } else if (const auto* const finished = std::get_if<effects::Finished>(&record)) {
    load_text(finished->value);
  } else if (const auto* const attempted = std::get_if<effects::Attempted>(&record)) {
    load_text(attempted->answer);
  } else if (const auto* const continued = std::get_if<effects::Continued>(&record)) {
    load_text(continued->input);
  }
}

void LoadedRun::load_text(const effects::StoredText& text) {
  if (!text.hash) return;
  if (!text.is_in_pieces) {
    load_content(*text.hash);
    return;
  }
  // Joining finds all pieces.
  const auto load = [this](const Hash& hash) -> std::optional<std::string> {
    const auto& bytes = load_content(hash);
    return bytes ? std::optional(*bytes) : std::nullopt;
  };
  static_cast<void>(effects::join_pieces(*text.hash, load, journal::append_bytes_max));
}

const Result<std::string, journal::StoreError>& LoadedRun::load_content(const Hash& hash) {
  const auto found = contents_.find(hash);
  if (found != contents_.end()) return found->second;
  return contents_.emplace(hash, store_->content(head_.run, hash)).first->second;
}

void LoadedRun::fill_in(effects::StoredText& text) const {
  if (!text.hash || text.is_in_pieces) return;  // no outcome is kept in pieces
  const auto found = contents_.find(*text.hash);
  if (found != contents_.end() && found->second) text = {*found->second, std::nullopt};
}

void LoadedRun::fill_in(RunCore& core) const {
  for (auto& [key, open] : core.open()) {
    for (effects::Attempted& attempted : open.attempts) fill_in(attempted.answer);
    if (open.input) fill_in(*open.input);
  }
}

Result<journal::RunHead, journal::StoreError> LoadedRun::head(const journal::RunName& run) {
  ENSURE(run == head_.run);
  return head_;
}

Result<std::vector<journal::Record>, journal::StoreError> LoadedRun::read(const journal::RunName& run,
                                                                          std::uint64_t after, std::size_t limit) {
  ENSURE(run == head_.run);
  if (after == 0 && limit == 1) return first_;
  ENSURE(after >= after_);
  const std::size_t begin = after - after_;
  if (begin >= records_.size()) {
    if (records_error_) return failure(*records_error_);
    return std::vector<journal::Record>{};
  }
  const auto from = records_.begin() + static_cast<std::ptrdiff_t>(begin);
  return std::vector<journal::Record>(from,
                                      from + static_cast<std::ptrdiff_t>(std::min(limit, records_.size() - begin)));
}

Result<std::optional<journal::Snapshot>, journal::StoreError> LoadedRun::snapshot(const journal::RunName& run) {
  ENSURE(run == head_.run && use_ == SnapshotUse::Use);
  return snapshot_;
}

Result<std::string, journal::StoreError> LoadedRun::content(const journal::RunName& run, const Hash& hash) {
  ENSURE(run == head_.run);
  const auto found = contents_.find(hash);
  if (found == contents_.end())
    return failure(journal::StoreError{journal::StoreError::Kind::Missing,
                                       "run " + run.text + ": the content " + hash.hex() + " was not loaded"});
  return found->second;
}

}  // namespace tenon::runtime
