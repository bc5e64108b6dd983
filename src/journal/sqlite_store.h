#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "journal/database.h"
#include "journal/owner_lock.h"
#include "journal/statements.h"
#include "journal/store.h"

namespace tenon::journal {

/// What an acknowledged append survives.
enum class Durability : std::uint8_t {
  Full,     ///< the machine's end too: each commit waits for the disk
  Process,  ///< the process's end, by `kill -9` too; a power cut may take the newest commits, whole ones, back to front
};

/// 16 MiB: a page that many commits write is copied once, and fewer than one commit of a hundred waits behind a copy.
inline constexpr int default_checkpoint_pages = 4'000;

struct StoreOptions {
  Durability durability = Durability::Full;
  Access access = Access::Owner;
  /// The log is copied into the database when so many pages of 4 KiB have come since the last time.
  int checkpoint_pages = default_checkpoint_pages;
  std::string vfs =
      {};  ///< tests put a disk that fails in between, under SQLite's name for it; empty: the system's files
};

/// What `check` found: empty lists mean that everything holds.
struct CheckReport {
  std::uint64_t runs = 0;
  std::uint64_t records = 0;
  std::uint64_t contents = 0;
  std::vector<std::string> problems;  ///< each with run and record, or the content's hash
};
/// After so many problems a check ends.
inline constexpr std::size_t check_problems_max = 1'000;

enum class ImportOutcome : std::uint8_t { Imported, AlreadyThere };
struct Imported {
  RunName run;
  ImportOutcome outcome = ImportOutcome::Imported;
};

/// A journal in one SQLite database: the file, its log (`-wal`, `-shm`) and the owner's lock (`.lock`) beside it. Used
/// by one thread at a time. The format is described in docs/internals/journal.md.
class SqliteStore final : public Store {
 public:
  /// An Owner makes the store if there is none, and gets `InUse` if somebody else owns it. A Reader's store is
  /// `Missing` when it is not there; it only reads, and writes to the inbox.
  [[nodiscard]] static Result<std::unique_ptr<SqliteStore>, StoreError> open(const std::string& path,
                                                                             const StoreOptions& options);
  ~SqliteStore() override;

  [[nodiscard]] Result<std::vector<std::optional<AppendRefusal>>, StoreError> commit(
      std::span<const Append> appends) override;
  [[nodiscard]] Result<RunHead, StoreError> claim(const RunName& run) override;
  [[nodiscard]] Result<RunHead, StoreError> head(const RunName& run) override;
  [[nodiscard]] Result<std::vector<RunHead>, StoreError> runs(const RunFilter& filter) override;
  [[nodiscard]] Result<std::vector<RunHead>, StoreError> due(std::int64_t now, std::size_t limit) override;
  [[nodiscard]] Result<std::optional<std::int64_t>, StoreError> next_due() override;
  [[nodiscard]] Result<std::vector<Record>, StoreError> read(const RunName& run, std::uint64_t after,
                                                             std::size_t limit) override;
  [[nodiscard]] Result<std::optional<Snapshot>, StoreError> snapshot(const RunName& run) override;
  [[nodiscard]] Result<std::string, StoreError> content(const RunName& run, const Hash& hash) override;
  [[nodiscard]] Result<std::optional<Note>, StoreError> find_note(std::string_view key) override;
  [[nodiscard]] Result<std::uint64_t, StoreError> send(const RunName& run, std::string_view bytes) override;
  [[nodiscard]] Result<std::vector<Command>, StoreError> inbox(std::size_t limit) override;
  [[nodiscard]] Result<void, StoreError> answer(std::uint64_t command, std::string_view reply) override;
  [[nodiscard]] Result<std::optional<std::string>, StoreError> take_reply(std::uint64_t command) override;
  [[nodiscard]] Result<bool, StoreError> withdraw(std::uint64_t command) override;
  [[nodiscard]] bool inbox_may_have_changed() override;
  [[nodiscard]] Result<void, StoreError> maintain() override;

  /// Compares everything with everything: SQLite's own check, all chains, all contents' hashes, all counts. Reads one
  /// state of the store while its owner goes on.
  [[nodiscard]] Result<CheckReport, StoreError> check();
  /// One run as one file, in the form of journal/run_file.h: its head, records, and all contents that can be reached
  /// from them.
  [[nodiscard]] Result<std::string, StoreError> export_run(const RunName& run);
  /// Takes such a file in, after everything in it has been compared: all or nothing. The same run with the same chain
  /// is `AlreadyThere`, and nothing changes; another one of its name, or a forgotten one, is `Conflict`. A file that
  /// does not hold is `Damaged` or `Format`.
  [[nodiscard]] Result<Imported, StoreError> import_run(std::string_view file);
  /// Removes a run's records, contents, snapshot and commands; a shared content goes with the last run that has it.
  /// What is left is its name, its times, the number of its records and their chain. Forgetting twice is no error.
  [[nodiscard]] Result<void, StoreError> forget(const RunName& run, std::int64_t now_ms);
  /// Drops all snapshots, and rewrites the file without free room and without remains of what was deleted. Needs as
  /// much room on the disk as the store has, for as long as it runs.
  [[nodiscard]] Result<void, StoreError> compact();

 private:
  /// Contents that an append brings along, by their hashes.
  using Brought = std::unordered_map<Hash, const Content*>;

  SqliteStore(std::optional<OwnerLock> lock, std::unique_ptr<Database> database, const StoreOptions& options)
      : options_(options), lock_(std::move(lock)), database_(std::move(database)), statements_(*database_) {}

  [[nodiscard]] Result<void, StoreError> prepare();
  /// Why this object may not write; nothing if it may.
  [[nodiscard]] std::optional<StoreError> refuse_writing() const;
  [[nodiscard]] StoreError missing_run(const RunName& run) const;
  [[nodiscard]] StoreError damaged_record(const RunName& run, std::uint64_t number, std::string_view what) const;

  /// In a transaction: one append, or why not. `brought` is made of its contents.
  [[nodiscard]] Result<std::optional<AppendRefusal>, StoreError> apply(const Append& append, const Brought& brought);
  /// In a transaction: the id of the run's row in `contents`.
  [[nodiscard]] Result<std::optional<std::int64_t>, StoreError> find_content(std::int64_t run, const Hash& hash);
  /// What an append refers to and its run (null: a new one) has not yet: `added` is what is to be written then.
  [[nodiscard]] Result<std::optional<AppendRefusal>, StoreError> find_new_contents(const Append& append,
                                                                                   const Brought& brought,
                                                                                   const RunRow* run,
                                                                                   std::vector<const Content*>& added);
  [[nodiscard]] Result<void, StoreError> write_contents(const RunRow& run, const std::vector<const Content*>& added);
  /// One more run has a shared content.
  [[nodiscard]] Result<void, StoreError> share_content(const Content& content);
  [[nodiscard]] Result<void, StoreError> write_notes(const Append& append);
  [[nodiscard]] Result<void, StoreError> write_batch(const Append& append, const RunRow& run);
  [[nodiscard]] Result<void, StoreError> forget_rows(const RunName& run, std::int64_t now_ms);
  /// In a transaction: removes a run's contents, of the shared ones those that no other run has.
  [[nodiscard]] Result<void, StoreError> forget_contents(const RunRow& run);

  [[nodiscard]] Result<std::optional<RunRow>, StoreError> find_run(const RunName& run);
  [[nodiscard]] Result<RunRow, StoreError> get_run(const RunName& run);  ///< `Missing` for a forgotten one too
  [[nodiscard]] Result<std::vector<RunHead>, StoreError> read_heads(Execution& query);
  /// The batches of a run from the one that holds record `from` on, up to the next milestone or the end, in order.
  [[nodiscard]] Result<std::vector<BatchRow>, StoreError> read_batches(const RunRow& run, std::uint64_t from);
  struct Body {
    std::vector<Hash> refers;
    std::string bytes;
  };
  /// In a transaction; the bytes have been compared with the hash.
  [[nodiscard]] Result<Body, StoreError> read_content(std::int64_t run, const Hash& hash);
  /// The id of a run that is not forgotten; it is the same as long as the file is.
  [[nodiscard]] Result<std::int64_t, StoreError> find_run_id(const RunName& run);

  StoreOptions options_;
  std::optional<OwnerLock> lock_;  ///< an owner's
  std::unique_ptr<Database> database_;
  Statements statements_;
  std::int64_t seen_data_version_ = -1;
  std::pair<std::string, std::int64_t> run_id_;  ///< of the run of which something was read last
  /// Epochs that were claimed and that the file learns with the run's next append. There is one owner at a time, so
  /// nobody else needs to know of them, and a claim writes nothing.
  std::unordered_map<std::string, std::uint64_t> claimed_;
};

}  // namespace tenon::journal
