#include "journal/sqlite/connection.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/clock.h"
#include "base/file_names.h"
#include "base/shell_word.h"
#include "journal/shown_runs.h"
#include "journal/sqlite/log_damage.h"
#include "journal/sqlite/schema.h"

namespace tenon::journal::sqlite {

namespace {

/// An owner copies the log in `maintain`; a commit does it by itself after this many times the usual number of pages.
constexpr int checkpoint_overdue = 2;
/// A log of 64 MiB: from here on a copy waits for readers, so that the log can start anew.
constexpr int log_pages_max = 16'384;
constexpr std::int64_t log_bytes_kept = std::int64_t{64} << 20;
constexpr int wait_for_readers_ms = 100;
/// How long a writer waits for another process that is writing a command to the inbox.
constexpr int wait_for_writers_ms = 10'000;
/// How long a reader waits for an owner that is opening the store.
constexpr std::chrono::milliseconds wait_for_owner{1'000};
constexpr std::chrono::milliseconds owner_poll{10};
/// As many runs are named after a repair; a longer list would hide the other messages.
constexpr std::size_t missing_runs_shown_max = 100;

}  // namespace

Connection::Connection(Place place, std::unique_ptr<Database> database, const StoreOptions& options)
    : options_(options),
      place_(std::move(place)),
      database_(std::move(database)),
      statements_(std::make_unique<Statements>(*database_)) {}

/// An owner checks the log while it opens the store. What a reader would find until then is not known.
static void wait_for_opening_owner(const std::string& path) {
  RealClock clock;
  for (std::chrono::milliseconds waited{0}; waited < wait_for_owner && OwnerLock::is_opening(path);
       waited += owner_poll)
    clock.wait(owner_poll);
}

/// Before SQLite reads the log: it would drop what follows the damage. Adds to `notices` what was found or cut off, and
/// returns the runs of the commits that were cut off. An owner that has opened the store has checked the log, and its
/// readers see what it wrote since by the log's index.
static Result<std::vector<std::string>, StoreError> handle_log_damage(const std::string& path, const std::string& name,
                                                                      const StoreOptions& options,
                                                                      std::vector<std::string>& notices) {
  using Runs = std::vector<std::string>;
  const bool is_reader = options.access == Access::Reader;
  if (is_reader) {
    if (options.damaged_log == DamagedLog::Report) return Runs{};
    wait_for_opening_owner(path);
    if (OwnerLock::is_held(path) && !OwnerLock::is_opening(path)) return Runs{};
  }
  const auto damage = is_reader ? find_lasting_log_damage(path) : find_log_damage(path);
  if (!damage) return failure(damage.error());
  if (!*damage) return Runs{};
  const std::string description = describe(**damage, name);
  if (options.damaged_log == DamagedLog::Cut) {
    const auto copy = cut_log(**damage, path);
    if (!copy) return failure(copy.error());
    notices.push_back(description);
    notices.push_back(fmt::format("the log was cut there; {} is a copy of all of it", *copy));
    return (*damage)->runs;
  }
  // Without a sync after each commit a power cut may lose any of the newest ones.
  const bool is_expected = !(*damage)->is_certain || options.durability == Durability::Process;
  if (!is_expected)
    return failure(
        damaged(fmt::format("{}; nothing was changed. `tenon store repair --store {}` opens the store "
                            "without them, and keeps a copy of the log",
                            description, make_shell_word(name))));
  notices.push_back(description);
  return Runs{};
}

/// Whether an attempt to open failed as it does where nothing can be written.
static bool may_be_read_only(const StoreError& error, const std::string& path) {
  std::error_code ignored;
  const bool fits = error.kind == StoreError::Kind::Denied || error.kind == StoreError::Kind::Missing ||
                    error.kind == StoreError::Kind::Broken;
  return fits && std::filesystem::is_regular_file(path, ignored) && !OwnerLock::is_held(path);
}

Result<std::unique_ptr<Connection>, StoreError> Connection::open_read_only(Place place, const StoreOptions& options,
                                                                           std::vector<std::string> notices) {
  auto database = Database::open(place.path, {Access::Reader, {}, ReadOnly::Yes, place.name});
  if (!database) return failure(database.error());
  std::unique_ptr<Connection> connection(new Connection(std::move(place), std::move(*database), options));
  connection->notices_ = std::move(notices);
  auto done = connection->set_up();
  if (!done && done.error().kind == StoreError::Kind::OldFormat) done = read_format_2(*connection->database_);
  if (!done) return failure(done.error());
  return connection;
}

/// The names of the file, and for an owner its locks.
Result<Connection::Place, StoreError> Connection::take_place(const std::string& given, const StoreOptions& options) {
  const bool is_owner = options.access == Access::Owner;
  auto path = resolve_store_path(given);
  if (!path) return failure(std::move(path.error()));
  Place place{.path = std::move(*path), .name = follow_links(given)};
  if (std::error_code ignored; is_owner && !options.creates && !std::filesystem::exists(place.path, ignored))
    return failure(StoreError{StoreError::Kind::Missing, fmt::format("{}: the store does not exist", place.name)});
  if (auto usable = require_one_name(place.path, place.name); !usable) return failure(std::move(usable.error()));
  if (is_owner) {
    auto acquired = OwnerLock::acquire(place.path, place.name);
    if (!acquired) return failure(std::move(acquired.error()));
    place.lock.emplace(std::move(*acquired));
  }
  auto file = StoreFile::open(place.path, place.name, options.access);
  if (!file) return failure(std::move(file.error()));
  if (place.lock) place.lock->give_access_of(file->status());
  place.file.emplace(std::move(*file));
  return place;
}

Result<std::unique_ptr<Connection>, StoreError> Connection::open(const std::string& given,
                                                                 const StoreOptions& options) {
  auto place = take_place(given, options);
  if (!place) return failure(std::move(place.error()));
  const std::string path = place->path, name = place->name;
  std::vector<std::string> notices;
  const auto cut_off = handle_log_damage(path, name, options, notices);
  if (!cut_off) return failure(cut_off.error());
  if (place->lock) place->lock->announce();
  auto database = Database::open(path, {options.access, options.disk, ReadOnly::No, name});
  if (!database && options.access == Access::Reader && may_be_read_only(database.error(), path))
    return open_read_only(std::move(*place), options, std::move(notices));
  if (!database) return failure(database.error());
  std::unique_ptr<Connection> connection(new Connection(std::move(*place), std::move(*database), options));
  connection->notices_ = notices;
  auto done = connection->prepare();
  if (!done && options.access == Access::Reader && may_be_read_only(done.error(), path)) {
    Place kept = std::move(connection->place_);
    connection.reset();
    return open_read_only(std::move(kept), options, std::move(notices));
  }
  if (!done && done.error().kind == StoreError::Kind::OldFormat) {
    // A reader upgrades the store too: as its owner for a moment, unless another process owns it.
    Place kept = std::move(connection->place_);
    connection.reset();
    StoreOptions as_owner = options;
    as_owner.access = Access::Owner;
    if (auto upgraded = open(given, as_owner); !upgraded) {
      if (may_be_read_only(upgraded.error(), path)) return open_read_only(std::move(kept), options, std::move(notices));
      if (upgraded.error().kind == StoreError::Kind::InUse)
        upgraded.error().message +=
            "; it is either upgrading the store, which takes a while, or an older Tenon, whose stores only it can read";
      return failure(std::move(upgraded.error()));
    }
    return open(given, options);
  }
  if (done) done = connection->notice_missing(*cut_off);
  if (!done) return failure(done.error());
  return connection;
}

Result<void, StoreError> Connection::notice_missing(std::span<const std::string> runs) {
  std::vector<std::string> missing;
  for (const std::string& run : runs) {
    Execution query(statements_->select_run);
    const StepResult step = query.text(run).step();
    if (step == StepResult::Failed) return failure(query.error());
    if (step == StepResult::Done) missing.push_back(run);
  }
  if (missing.empty()) return {};
  notices_.push_back(fmt::format("{}: {} {} missing now; only a backup may have {}", name(),
                                 list_runs(missing, missing.size(), missing_runs_shown_max),
                                 missing.size() == 1 ? "is" : "are", missing.size() == 1 ? "it" : "them"));
  return {};
}

Result<void, StoreError> Connection::set_up() {
  database_->set_busy_timeout(wait_for_writers_ms);
  // Full: each commit is followed by an fsync of the log. Process (NORMAL): the log is only synced before it is copied,
  // so a power cut loses the newest commits but never breaks the file, as OFF could.
  const bool is_full = options_.durability == Durability::Full;
  if (auto done = database_->execute(fmt::format("PRAGMA synchronous = {}; PRAGMA secure_delete = FAST; PRAGMA "
                                                 "trusted_schema = OFF; PRAGMA cell_size_check = ON;"
                                                 "PRAGMA cache_size = -16384; PRAGMA journal_size_limit = {}",
                                                 is_full ? "FULL" : "NORMAL", log_bytes_kept));
      !done)
    return done;
  return prepare_schema(*database_, options_.access);
}

Result<void, StoreError> Connection::prepare() {
  if (auto done = set_up(); !done) return done;
  if (options_.access == Access::Reader) return database_->execute("PRAGMA query_only = ON");
  has_former_log_ = true;
  auto copied = copy_former_log();
  // Without space the store can be read, and a write tries again.
  if (!copied && copied.error().kind == StoreError::Kind::Full) return {};
  return copied;
}

/// After a crash the log may contain commits that are only in the kernel's memory, because the fsync after them failed.
/// Copying them makes them durable before anything is built on them.
Result<void, StoreError> Connection::copy_former_log() {
  database_->set_busy_timeout(wait_for_readers_ms);
  auto copied = database_->checkpoint(Database::Checkpoint::Truncate);
  if (copied) copied = database_->checkpoint(Database::Checkpoint::Passive);  // where a reader was in the way
  database_->set_busy_timeout(wait_for_writers_ms);
  has_former_log_ = !copied;
  return copied;
}

Result<void, StoreError> Connection::require_usable() const {
  if (database_->broken()) return failure(*database_->broken());
  return {};
}

Result<void, StoreError> Connection::require_writable() {
  if (database_->broken()) return failure(*database_->broken());
  if (options_.access == Access::Owner) return has_former_log_ ? copy_former_log() : Result<void, StoreError>();
  return failure(StoreError{StoreError::Kind::InUse,
                            fmt::format("{}: the store was opened for reading; only its owner writes", name())});
}

StoreError Connection::missing_run(const RunName& run) const {
  return {StoreError::Kind::Missing, fmt::format("{}: there is no run {}", name(), run.text)};
}

StoreError Connection::damaged_record(const RunName& run, std::uint64_t number, std::string_view what) const {
  return damaged(fmt::format("{}: run {}, record {}: {}", name(), run.text, number, what));
}

Result<void, StoreError> Connection::maintain() {
  if (auto usable = require_usable(); !usable) return usable;
  if (options_.access == Access::Reader || database_->log_pages_since_checkpoint() < options_.checkpoint_pages)
    return {};
  // Passive: it does not wait, and stops before pages that a reader still needs.
  const bool is_long = database_->log_pages() >= log_pages_max;
  if (is_long) database_->set_busy_timeout(wait_for_readers_ms);
  auto done = database_->checkpoint(is_long ? Database::Checkpoint::Truncate : Database::Checkpoint::Passive);
  if (is_long) database_->set_busy_timeout(wait_for_writers_ms);
  // Without space the log keeps its pages, and a later call copies them.
  if (!done && done.error().kind == StoreError::Kind::Full) return {};
  return done;
}

void Connection::empty_log() {
  if (options_.access == Access::Reader) return;
  database_->set_busy_timeout(wait_for_readers_ms);
  // If it fails, the next owner does it.
  static_cast<void>(database_->checkpoint(Database::Checkpoint::Truncate));
}

Result<void, StoreError> Connection::maintain_if_overdue() {
  if (database_->log_pages_since_checkpoint() / checkpoint_overdue < options_.checkpoint_pages) return {};
  return maintain();
}

}  // namespace tenon::journal::sqlite
