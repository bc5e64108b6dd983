#include "journal/sqlite_store.h"

#include <fmt/format.h>

#include "journal/schema.h"

namespace tenon::journal {
namespace {

/// An owner copies the log in `maintain`; a commit does it by itself when so many times the usual number have come.
constexpr int checkpoint_overdue = 2;
/// A log of 64 MiB: from here on a copy waits for readers, so that the log begins anew.
constexpr int log_pages_max = 16'384;
constexpr std::int64_t log_bytes_kept = std::int64_t{64} << 20;
constexpr int wait_for_readers_ms = 100;
/// How long a writer waits for a command that another process is just leaving in the inbox.
constexpr int wait_for_writers_ms = 10'000;

}  // namespace

Result<std::unique_ptr<SqliteStore>, StoreError> SqliteStore::open(const std::string& path,
                                                                   const StoreOptions& options) {
  std::optional<OwnerLock> lock;
  if (options.access == Access::Owner) {
    auto acquired = OwnerLock::acquire(path);
    if (!acquired) return failure(acquired.error());
    lock.emplace(std::move(*acquired));
  }
  auto database = Database::open(path, {options.access, options.vfs});
  if (!database) return failure(database.error());
  std::unique_ptr<SqliteStore> store(new SqliteStore(std::move(lock), std::move(*database), options));
  auto done = store->prepare();
  if (!done && done.error().kind == StoreError::Kind::OldFormat) {
    // Whoever reads gets the present format too: as the owner for a moment, unless somebody else owns the store.
    store.reset();
    StoreOptions as_owner = options;
    as_owner.access = Access::Owner;
    if (auto upgraded = open(path, as_owner); !upgraded) {
      if (upgraded.error().kind == StoreError::Kind::InUse)
        upgraded.error().message +=
            "; it is bringing the store to the present format, which takes a while, or an older Tenon, whose format "
            "nobody reads beside it";
      return failure(std::move(upgraded.error()));
    }
    return open(path, options);
  }
  if (!done) return failure(done.error());
  return store;
}

SqliteStore::~SqliteStore() = default;

Result<void, StoreError> SqliteStore::prepare() {
  database_->set_busy_timeout(wait_for_writers_ms);
  // Full: each commit is followed by an fsync of the log. Process (NORMAL): only the log's copying is, so a power cut
  // loses the newest commits but never breaks the file, as OFF could.
  const bool is_full = options_.durability == Durability::Full;
  if (auto done = database_->execute(fmt::format("PRAGMA synchronous = {}; PRAGMA secure_delete = FAST; PRAGMA "
                                                 "trusted_schema = OFF; PRAGMA cell_size_check = ON;"
                                                 "PRAGMA cache_size = -16384; PRAGMA journal_size_limit = {}",
                                                 is_full ? "FULL" : "NORMAL", log_bytes_kept));
      !done)
    return done;
  if (auto done = prepare_schema(*database_, options_.access); !done) return done;
  if (options_.access == Access::Reader) return database_->execute("PRAGMA query_only = ON");
  // After a crash the log may hold commits that are in the kernel's memory only, since the fsync after them failed.
  // Copying them makes them durable before anybody goes on from them.
  database_->set_busy_timeout(wait_for_readers_ms);
  auto copied = database_->checkpoint(Database::Checkpoint::Truncate);
  if (copied) copied = database_->checkpoint(Database::Checkpoint::Passive);  // where a reader was in the way
  database_->set_busy_timeout(wait_for_writers_ms);
  return copied;
}

std::optional<StoreError> SqliteStore::refuse_writing() const {
  if (database_->broken()) return database_->broken();
  if (options_.access == Access::Owner) return std::nullopt;
  return StoreError{StoreError::Kind::InUse,
                    fmt::format("{}: the store was opened for reading; its owner writes", database_->path())};
}

StoreError SqliteStore::missing_run(const RunName& run) const {
  return {StoreError::Kind::Missing, fmt::format("{}: there is no run {}", database_->path(), run.text)};
}

StoreError SqliteStore::damaged_record(const RunName& run, std::uint64_t number, std::string_view what) const {
  return damaged(fmt::format("{}: run {}, record {}: {}", database_->path(), run.text, number, what));
}

Result<void, StoreError> SqliteStore::maintain() {
  if (database_->broken()) return failure(*database_->broken());
  if (options_.access == Access::Reader || database_->log_pages_since_checkpoint() < options_.checkpoint_pages)
    return {};
  // Passive: it waits for nobody and stops before what a reader still needs.
  const bool is_long = database_->log_pages() >= log_pages_max;
  if (is_long) database_->set_busy_timeout(wait_for_readers_ms);
  auto done = database_->checkpoint(is_long ? Database::Checkpoint::Truncate : Database::Checkpoint::Passive);
  if (is_long) database_->set_busy_timeout(wait_for_writers_ms);
  // Without room the log keeps what it has, and the next time does it.
  if (!done && done.error().kind == StoreError::Kind::Full) return {};
  return done;
}

Result<std::vector<std::optional<AppendRefusal>>, StoreError> SqliteStore::commit(std::span<const Append> appends) {
  if (const auto refusal = refuse_writing()) return failure(*refusal);
  if (database_->log_pages_since_checkpoint() / checkpoint_overdue >= options_.checkpoint_pages)
    if (auto done = maintain(); !done) return failure(done.error());
  std::vector<std::optional<AppendRefusal>> refusals;
  refusals.reserve(appends.size());
  Transaction transaction(*database_);
  if (auto done = transaction.begin(Transaction::Kind::Write); !done) return failure(done.error());
  for (const Append& append : appends) {
    Brought brought;
    for (const Content& content : append.contents) brought.emplace(content.hash, &content);
    auto applied = apply(append, brought);
    if (!applied) return failure(applied.error());
    refusals.push_back(*applied);
  }
  if (auto done = transaction.commit(); !done) return failure(done.error());
  for (std::size_t at = 0; at < appends.size() && !claimed_.empty(); ++at) {
    if (!refusals[at]) claimed_.erase(appends[at].run.text);  // it stands in the file now
  }
  return refusals;
}

Result<RunHead, StoreError> SqliteStore::claim(const RunName& run) {
  if (const auto refusal = refuse_writing()) return failure(*refusal);
  auto row = get_run(run);
  if (!row) return failure(row.error());
  const auto [claimed, is_first] = claimed_.try_emplace(run.text, row->head.epoch);
  row->head.epoch = ++claimed->second;
  return row->head;
}

}  // namespace tenon::journal
