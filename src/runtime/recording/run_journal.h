#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "effects/record.h"
#include "journal/store.h"
#include "runtime/recording/read_records.h"
#include "runtime/recovery/snapshot_fields.h"
#include "vm/values/value.h"

namespace tenon::runtime {

class ProgramImage;

/// Records that follow one another, for listeners, with the texts that they name by hash.
struct RecordList {
  std::uint64_t first = 0;  ///< the number of the first record
  std::vector<effects::Record> records;
  std::map<Hash, std::string> texts;
};

/// The end of one run's journal: numbers its records and gathers what is to be made durable together, and what
/// listeners are to receive. Without a store, records are only gathered for listeners, and nothing is encoded or
/// hashed.
class RunJournal {
 public:
  /// In memory.
  RunJournal() = default;
  explicit RunJournal(ReadRecords read) : read_(read) {}
  /// In a store.
  RunJournal(journal::RunName name, std::uint64_t epoch, std::uint64_t records, ReadRecords read = ReadRecords::None)
      : read_(read), name_(std::move(name)), epoch_(epoch), records_(records) {
    if (records_ > 0) asked_.reset();
  }

  [[nodiscard]] bool is_stored() const { return name_.has_value(); }
  /// Whether a record that is added has an effect, whatever it is.
  [[nodiscard]] bool takes_records() const { return is_stored() || read_ == ReadRecords::All; }
  /// Whether the record of a request of this kind has an effect.
  [[nodiscard]] bool takes_request(effects::EffectKind kind) const {
    return takes_records() || (read_ == ReadRecords::Emitted && kind == effects::EffectKind::Emitted);
  }
  /// In a store.
  [[nodiscard]] const journal::RunName& name() const { return *name_; }
  /// Of the owner that appends.
  [[nodiscard]] std::uint64_t epoch() const { return epoch_; }
  /// The number of the newest record, durable or not.
  [[nodiscard]] std::uint64_t last() const { return records_; }
  /// Whether something is to be made durable.
  [[nodiscard]] bool has_pending() const { return !bytes_.empty() || snapshot_.has_value(); }
  /// The size of all that has been gathered since it was taken.
  [[nodiscard]] std::uint64_t pending_bytes() const { return pending_bytes_; }
  /// Whether nothing has been taken, and nothing was there before.
  [[nodiscard]] bool is_untouched() const { return records_ == bytes_.size(); }
  /// The size of the records since the last snapshot.
  [[nodiscard]] std::uint64_t bytes_since_snapshot() const { return bytes_since_snapshot_; }

  /// Text for a record: itself if it is short or in memory, otherwise a content of the store.
  [[nodiscard]] effects::StoredText keep(std::string text);
  /// The same for a text that changes little from one record to the next: in a store, a long one is kept in pieces.
  [[nodiscard]] effects::StoredText keep_changing(std::string text);
  void keep_content(std::string bytes, const Hash& hash, journal::Sharing sharing);
  /// The program that a record names; returns its hash, which is zero in memory.
  Hash keep_program(const ProgramImage& image);
  /// A context and all before it; returns its hash, which is zero in memory.
  Hash keep_context(const vm::Value& context);
  /// Returns the record's bytes, for snapshots that repeat it; empty in memory. They are valid until the next one.
  const std::string& add(effects::Record&& record);
  /// As `write_snapshot` makes it; the run's start and the number of its questions are added, so that a recovery need
  /// not look for older records. One that is larger than the store takes is left out: a recovery then begins with an
  /// older one.
  void set_snapshot(std::string bytes);
  /// After a restart: the record of the run's start.
  void know_start(const effects::Started& started);
  /// After a restart: how many questions the run has asked people; nothing if that is unknown.
  void know_asked(std::optional<std::uint64_t> questions) { asked_ = questions; }
  /// How many questions the run has asked people; nothing if it continues from a snapshot that does not say it.
  [[nodiscard]] std::optional<std::uint64_t> asked() const { return asked_; }
  /// After a restart: pieces that the store has.
  void know_pieces(std::unordered_set<Hash> hashes) { stored_pieces_ = std::move(hashes); }
  /// With what is gathered now.
  void keep_notes(std::vector<journal::Note> notes) { std::ranges::move(notes, std::back_inserter(notes_)); }
  /// From now on, the chain over the records is computed. `chain`: after the newest record.
  void follow_chain(const Hash& chain) { chain_ = chain; }
  /// The chain after the newest record, if it is computed.
  [[nodiscard]] const std::optional<Hash>& chain() const { return chain_; }
  /// The record of the run's start, if it is known.
  [[nodiscard]] std::optional<effects::Started> started() const;
  /// Pieces that the store has, which are forgotten here.
  [[nodiscard]] std::unordered_set<Hash> take_pieces() { return std::exchange(stored_pieces_, {}); }
  /// Read again after a restart: counts towards the next snapshot.
  void count(std::size_t record_bytes) { bytes_since_snapshot_ += record_bytes; }

  /// Of a new run: with its first append.
  void keep_pool(std::string pool) { pool_ = std::move(pool); }
  /// With the next append, the last one here.
  void move_to(std::string pool) { moves_to_ = std::move(pool); }

  /// What has been gathered for the store; nothing is gathered any more.
  [[nodiscard]] journal::Append take(journal::RunSummary summary);
  /// What has been gathered for listeners since the last call.
  [[nodiscard]] RecordList take_records();

 private:
  [[nodiscard]] bool is_read(const effects::Record& record) const;

  ReadRecords read_ = ReadRecords::None;
  std::optional<journal::RunName> name_;
  std::uint64_t epoch_ = 0;
  std::uint64_t records_ = 0;
  std::optional<Hash> chain_;
  std::uint64_t bytes_since_snapshot_ = 0;
  std::uint64_t pending_bytes_ = 0;
  std::optional<std::uint64_t> asked_ = 0;  ///< questions to people; nothing if that is unknown
  std::string start_;                       ///< as a snapshot's field
  RecordList pending_;                      ///< for listeners
  std::vector<std::string> bytes_;
  std::vector<journal::Content> contents_;
  std::vector<Hash> references_;
  std::unordered_set<Hash> stored_pieces_;  ///< some of the newest texts, which need not be added again
  std::optional<journal::Snapshot> snapshot_;
  std::vector<journal::Note> notes_;
  std::string pool_;
  std::optional<std::string> moves_to_;
};

}  // namespace tenon::runtime
