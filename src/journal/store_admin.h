#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "journal/store.h"

namespace tenon::journal {

/// The result of a check: without problems everything matches.
struct CheckReport {
  std::uint64_t runs = 0;
  std::uint64_t records = 0;
  std::uint64_t contents = 0;
  std::vector<std::string> problems;  ///< each names a run and record, or a content's hash
};
/// A check ends after this number of problems.
inline constexpr std::size_t check_problems_max = 1'000;

enum class ImportOutcome : std::uint8_t { Imported, AlreadyThere };
struct Imported {
  RunName run;
  ImportOutcome outcome = ImportOutcome::Imported;
};

/// What an operator does with a store. Used by one thread at a time. `check`, `export_run` and `backup` read one state
/// of the store while its owner continues to write; the others require the owner's connection.
class StoreAdmin {
 public:
  virtual ~StoreAdmin() = default;

  /// Compares everything that is stored twice or has a checksum: pages, chains, hashes of contents, references, counts.
  [[nodiscard]] virtual Result<CheckReport, StoreError> check() = 0;
  /// Returns a run as one file, in the format of journal/run_file.h: its head, records, and all contents that can be
  /// reached from them.
  [[nodiscard]] virtual Result<std::string, StoreError> export_run(const RunName& run) = 0;
  /// Adds the run of such a file, after everything in it has been verified: all or nothing. If the same run with the
  /// same chain exists, the outcome is `AlreadyThere` and nothing changes; a different run of its name, or a forgotten
  /// one, is a `Conflict`. A file that does not match its checksums is `Damaged`, one in another format `Format`.
  [[nodiscard]] virtual Result<Imported, StoreError> import_run(std::string_view bytes) = 0;
  /// Adds the head of a run that was forgotten in another store, so that it stays forgotten in this one. The outcomes
  /// are those of `import_run`.
  [[nodiscard]] virtual Result<Imported, StoreError> import_forgotten(const RunHead& head) = 0;
  /// Removes a run's records, contents and commands permanently; its head remains, with the state `Forgotten`. Contents
  /// that other runs share remain. The removed bytes are overwritten.
  [[nodiscard]] virtual Result<void, StoreError> forget(const RunName& run, std::int64_t now_ms) = 0;
  /// Keeps a note that belongs to no run. Durable when it returns; after an error nothing was kept. `Full` also means
  /// that an append would not fit now, and `Conflict` that there is one with its key, for `NoteUse::KeepFirst`.
  /// `now_ms`: milliseconds since 1970.
  [[nodiscard]] virtual Result<void, StoreError> keep_note(const Note& note, std::int64_t now_ms) = 0;
  /// Returns notes in the order of their keys, after this one.
  [[nodiscard]] virtual Result<std::vector<Note>, StoreError> list_notes(std::string_view after, std::size_t limit) = 0;
  /// Copies the whole store into a new file, in one state, while its owner continues to write. `Conflict` if the file
  /// exists. The file appears when it is complete and durable.
  [[nodiscard]] virtual Result<void, StoreError> backup(const std::string& path) = 0;
  /// Removes all snapshots and rewrites the store without free space.
  [[nodiscard]] virtual Result<void, StoreError> compact() = 0;
};

}  // namespace tenon::journal
