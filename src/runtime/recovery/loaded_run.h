#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "effects/record.h"
#include "journal/store.h"
#include "runtime/recovery/recovery.h"

namespace tenon::runtime {

struct ParkedRun;

/// What the store has of a run, as far as its recovery reads it, in memory. It is read on any thread, so that the
/// thread that recovers the run does not wait for the disk. What could not be read is an error of the call that asks
/// for it.
class LoadedRun final : public journal::RunReader {
 public:
  /// `head`: with the epoch of the owner that will continue the run.
  LoadedRun(journal::RunReader& store, journal::RunHead head, SnapshotUse use);

  /// The same of a run that was in memory before: only the records since then, unless the store has not the same
  /// records up to there. `parked`: null if it was not.
  LoadedRun(journal::RunReader& store, journal::RunHead head, SnapshotUse use, std::shared_ptr<ParkedRun> parked);

  [[nodiscard]] const journal::RunHead& head() const { return head_; }
  /// What the records follow; null: they begin with the run's start or its snapshot.
  [[nodiscard]] ParkedRun* parked() const { return parked_.get(); }
  [[nodiscard]] SnapshotUse snapshot_use() const { return use_; }
  /// Replaces a text's hash by the text, if it was found.
  void fill_in(effects::StoredText& text) const;
  /// The same for the texts that the open requests need when they are performed.
  void fill_in(RunCore& core) const;

  [[nodiscard]] Result<journal::RunHead, journal::StoreError> head(const journal::RunName& run) override;
  /// Only for the first record and those that a recovery reads.
  [[nodiscard]] Result<std::vector<journal::Record>, journal::StoreError> read(const journal::RunName& run,
                                                                               std::uint64_t after,
                                                                               std::size_t limit) override;
  [[nodiscard]] Result<std::optional<journal::Snapshot>, journal::StoreError> snapshot(
      const journal::RunName& run) override;
  [[nodiscard]] Result<std::string, journal::StoreError> content(const journal::RunName& run,
                                                                 const Hash& hash) override;

 private:
  void load_all();
  [[nodiscard]] bool continues(const ParkedRun& parked) const;
  void load_snapshot(std::string_view bytes);
  void load_conversation(std::string_view bytes);
  void load_context(Hash node);
  void load_start(std::string_view bytes);
  void load_first();
  void load_known(const Hash& known);
  void load_records();
  void load_contents(std::string_view record_bytes);
  void load_contents(const effects::RecordBody& record);
  void load_text(const effects::StoredText& text);
  const Result<std::string, journal::StoreError>& load_content(const Hash& hash);

  journal::RunReader* store_;  ///< null once everything has been read
  journal::RunHead head_;
  SnapshotUse use_;
  std::shared_ptr<ParkedRun> parked_;
  Result<std::optional<journal::Snapshot>, journal::StoreError> snapshot_;
  Result<std::vector<journal::Record>, journal::StoreError> first_;  ///< the first record
  bool has_start_ = false;                                           ///< the run's start was found
  std::uint64_t after_ = 1;                           ///< the number of the record before those that were read
  std::vector<journal::Record> records_;              ///< those after it
  std::optional<journal::StoreError> records_error_;  ///< why there are no more of them
  std::unordered_map<Hash, Result<std::string, journal::StoreError>> contents_;
};

}  // namespace tenon::runtime
