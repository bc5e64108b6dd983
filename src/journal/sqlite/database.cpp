#include "journal/sqlite/database.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "base/ensure.h"

namespace tenon::journal::sqlite {

static_assert(SQLITE_VERSION_NUMBER >= 3051003, "earlier ones may lose commits when two processes reset the log");

Statement::~Statement() {
  sqlite3_finalize(compiled_);
}

Execution::Execution(Statement& statement) : statement_(statement) {
  if (statement.compiled_ == nullptr)
    code_ = sqlite3_prepare_v3(statement.database_.handle_, statement.sql_, -1, SQLITE_PREPARE_PERSISTENT,
                               &statement.compiled_, nullptr);
}

Execution::~Execution() {
  if (statement_.compiled_ == nullptr) return;
  sqlite3_reset(statement_.compiled_);
  sqlite3_clear_bindings(statement_.compiled_);
}

Execution& Execution::integer(std::int64_t value) {
  if (code_ == SQLITE_OK) code_ = sqlite3_bind_int64(statement_.compiled_, ++bound_, value);
  return *this;
}

Execution& Execution::text(std::string_view value) {
  if (code_ == SQLITE_OK)
    code_ = sqlite3_bind_text64(statement_.compiled_, ++bound_, value.empty() ? "" : value.data(), value.size(),
                                SQLITE_STATIC, SQLITE_UTF8);
  return *this;
}

Execution& Execution::blob(std::string_view value) {
  if (code_ == SQLITE_OK)
    code_ = sqlite3_bind_blob64(statement_.compiled_, ++bound_, value.empty() ? "" : value.data(), value.size(),
                                SQLITE_STATIC);
  return *this;
}

Execution& Execution::optional(const std::optional<std::int64_t>& value) {
  if (value) return integer(*value);
  if (code_ == SQLITE_OK) code_ = sqlite3_bind_null(statement_.compiled_, ++bound_);
  return *this;
}

StepResult Execution::step() {
  if (code_ != SQLITE_OK && code_ != SQLITE_ROW) return StepResult::Failed;
  code_ = sqlite3_step(statement_.compiled_);
  if (code_ == SQLITE_ROW) return StepResult::Row;
  return code_ == SQLITE_DONE ? StepResult::Done : StepResult::Failed;
}

Result<void, StoreError> Execution::finish() {
  StepResult result = step();
  while (result == StepResult::Row) result = step();
  if (result == StepResult::Failed) return failure(error());
  return {};
}

StoreError Execution::error() const {
  return statement_.database_.make_error(code_);
}

std::int64_t Execution::get_integer(int column) const {
  return sqlite3_column_int64(statement_.compiled_, column);
}

std::optional<std::int64_t> Execution::find_integer(int column) const {
  if (sqlite3_column_type(statement_.compiled_, column) == SQLITE_NULL) return std::nullopt;
  return get_integer(column);
}

std::optional<std::string_view> Execution::find_bytes(int column) const {
  if (sqlite3_column_type(statement_.compiled_, column) == SQLITE_NULL) return std::nullopt;
  return get_bytes(column);
}

std::string_view Execution::get_bytes(int column) const {
  const void* const bytes = sqlite3_column_blob(statement_.compiled_, column);
  const int size = sqlite3_column_bytes(statement_.compiled_, column);
  if (bytes == nullptr || size <= 0) return {};
  return {static_cast<const char*>(bytes), static_cast<std::size_t>(size)};
}

/// The URI of a file that is read without locks: https://sqlite.org/uri.html. Where there is a log it has to be read as
/// well, which `immutable` does not do.
static std::string read_only_uri(const std::string& path) {
  std::string uri = "file:";
  for (const char c : path) {
    if (c == '?' || c == '#' || c == '%') {
      uri += fmt::format("%{:02X}", static_cast<unsigned>(c));
    } else {
      uri += c;
    }
  }
  std::error_code ignored;
  const auto log_bytes = std::filesystem::file_size(path + "-wal", ignored);
  return uri + (ignored || log_bytes == 0 ? "?immutable=1" : "?vfs=unix-none");
}

Result<std::unique_ptr<Database>, StoreError> Database::open(const std::string& path, const DatabaseOptions& options) {
  std::unique_ptr<Database> database(new Database(path, options.name.empty() ? path : options.name));
  int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  int code = SQLITE_OK;
  if (options.read_only == ReadOnly::Yes) {
    flags |= SQLITE_OPEN_READONLY | SQLITE_OPEN_URI;
    code = sqlite3_open_v2(read_only_uri(path).c_str(), &database->handle_, flags, nullptr);
    // Keeps the index of the log in memory.
    if (code == SQLITE_OK)
      code = sqlite3_exec(database->handle_, "PRAGMA locking_mode = EXCLUSIVE", nullptr, nullptr, nullptr);
  } else {
    flags |= SQLITE_OPEN_READWRITE | (options.access == Access::Owner ? SQLITE_OPEN_CREATE : 0);
    code =
        sqlite3_open_v2(path.c_str(), &database->handle_, flags, options.vfs.empty() ? nullptr : options.vfs.c_str());
    // SQLite opens such a file for reading instead, and would give the log and its index the file's mode: they would
    // stay unwritable when the file is writable again.
    if (code == SQLITE_OK && sqlite3_db_readonly(database->handle_, "main") == 1) {
      return failure(
          StoreError{StoreError::Kind::Denied, fmt::format("{}: this user may not write the store", database->name_)});
    }
  }
  if (code != SQLITE_OK) return failure(database->make_error(code));
  sqlite3_wal_hook(database->handle_, &Database::on_commit, database.get());  // in place of SQLite's own checkpoints
  // Only an owner empties the log at its end: it alone knows that all of it has been acknowledged.
  sqlite3_db_config(database->handle_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, options.access == Access::Owner ? 0 : 1,
                    nullptr);
  sqlite3_db_config(database->handle_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  database->begin_read_.emplace(*database, "BEGIN");
  database->begin_write_.emplace(*database, "BEGIN IMMEDIATE");
  database->commit_.emplace(*database, "COMMIT");
  return database;
}

Database::~Database() {
  begin_read_.reset();
  begin_write_.reset();
  commit_.reset();
  const int code = sqlite3_close(handle_);
  ENSURE(code != SQLITE_BUSY);  // a statement has outlived its database
}

int Database::on_commit(void* self, sqlite3* /*handle*/, const char* /*database*/, int pages) {
  auto& database = *static_cast<Database*>(self);
  if (pages < database.log_pages_) database.log_pages_at_checkpoint_ = 0;  // the log began anew
  database.log_pages_ = pages;
  return SQLITE_OK;
}

Result<void, StoreError> Database::execute(const std::string& sql) {
  if (broken_) return failure(*broken_);
  const int code = sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return failure(make_error(code));
  return {};
}

Result<std::int64_t, StoreError> Database::query_integer(const char* sql) {
  if (broken_) return failure(*broken_);
  Statement statement(*this, sql);
  Execution query(statement);
  if (query.step() != StepResult::Row) return failure(query.error());
  return query.get_integer(0);
}

Result<void, StoreError> Database::copy_to(const std::string& path) {
  if (broken_) return failure(*broken_);
  const auto error_of = [&](sqlite3* handle, int code) {
    const int kind = code & 0xFF;
    return failure(
        StoreError{kind == SQLITE_FULL       ? StoreError::Kind::Full
                   : kind == SQLITE_CANTOPEN ? StoreError::Kind::Denied
                   : kind == SQLITE_CORRUPT  ? StoreError::Kind::Damaged
                                             : StoreError::Kind::Broken,
                   fmt::format("{}: {}", path, handle == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(handle))});
  };
  sqlite3* raw = nullptr;
  int code = sqlite3_open_v2(path.c_str(), &raw,
                             SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE,
                             nullptr);
  const std::unique_ptr<sqlite3, decltype(&sqlite3_close)> target(raw, &sqlite3_close);
  if (code != SQLITE_OK) return error_of(target.get(), code);
  sqlite3_backup* const backup = sqlite3_backup_init(target.get(), "main", handle_, "main");
  if (backup == nullptr) return error_of(target.get(), sqlite3_extended_errcode(target.get()));
  // All pages in one step: it reads one state, and with a log no writer waits for a reader.
  code = sqlite3_backup_step(backup, -1);
  const int finished = sqlite3_backup_finish(backup);
  if (code != SQLITE_DONE) return error_of(nullptr, code);
  if (finished != SQLITE_OK) return error_of(target.get(), finished);
  return {};
}

bool Database::is_in_transaction() const {
  return sqlite3_get_autocommit(handle_) == 0;
}

std::int64_t Database::last_row() const {
  return sqlite3_last_insert_rowid(handle_);
}

std::int64_t Database::changes() const {
  return sqlite3_changes64(handle_);
}

void Database::set_busy_timeout(int timeout_ms) {
  sqlite3_busy_timeout(handle_, timeout_ms);
}

void Database::roll_back() {
  // SQLite has already rolled back by itself after some errors.
  if (!is_in_transaction()) return;
  const int code = sqlite3_exec(handle_, "ROLLBACK", nullptr, nullptr, nullptr);
  if (code != SQLITE_OK && !broken_) static_cast<void>(make_error(SQLITE_IOERR));
}

Result<void, StoreError> Database::checkpoint(Checkpoint mode) {
  if (broken_) return failure(*broken_);
  int in_log = 0;
  int copied = 0;
  const int code = sqlite3_wal_checkpoint_v2(
      handle_, nullptr, mode == Checkpoint::Passive ? SQLITE_CHECKPOINT_PASSIVE : SQLITE_CHECKPOINT_TRUNCATE, &in_log,
      &copied);
  if (code != SQLITE_OK && (code & 0xFF) != SQLITE_BUSY) return failure(make_error(code));
  log_pages_at_checkpoint_ = log_pages_;
  return {};
}

StoreError Database::make_error(int code) {
  const char* const said = handle_ == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(handle_);
  std::string message = fmt::format("{}: {}", name_, said);
  switch (code & 0xFF) {
    case SQLITE_FULL:
      return {StoreError::Kind::Full, fmt::format("{}: there is no space left on the disk", name_)};
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {StoreError::Kind::InUse,
              fmt::format("{}: another process has held the store's write lock for too long", name_)};
    case SQLITE_CANTOPEN: {
      const int reason = handle_ == nullptr ? 0 : sqlite3_system_errno(handle_);
      const bool is_denied = reason == EACCES || reason == EPERM || reason == EROFS;
      return {is_denied ? StoreError::Kind::Denied : StoreError::Kind::Missing, std::move(message)};
    }
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return {StoreError::Kind::Denied, std::move(message)};
    case SQLITE_NOTADB:
      return {StoreError::Kind::Format, fmt::format("{}: this file is not a store", name_)};
    case SQLITE_DONE:  // where a row had to be
      return {StoreError::Kind::Damaged, fmt::format("{}: a row is missing", name_)};
    case SQLITE_CORRUPT:
      return {StoreError::Kind::Damaged, std::move(message)};
    case SQLITE_TOOBIG:
      return {StoreError::Kind::TooLarge, std::move(message)};
    default:
      break;
  }
  // The index of the log could not be enlarged; nothing was written to the store.
  if (code == SQLITE_IOERR_SHMSIZE)
    return {StoreError::Kind::Full,
            fmt::format("{0}: there is no space left on the disk for {0}-shm, which the store needs in use", name_)};
  StoreError error{StoreError::Kind::Broken, fmt::format("{} (SQLite's code {})", message, code)};
  // What was written may be in the kernel's memory and not on the disk, and a further fsync would not tell. Closing
  // must not copy it either.
  if (!broken_) broken_ = error;
  if (handle_ != nullptr) sqlite3_db_config(handle_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  return error;
}

Transaction::~Transaction() {
  database_.roll_back();
}

Result<void, StoreError> Transaction::begin(Kind kind) {
  if (database_.broken_) return failure(*database_.broken_);
  return Execution(kind == Kind::Read ? *database_.begin_read_ : *database_.begin_write_).finish();
}

Result<void, StoreError> Transaction::commit() {
  return Execution(*database_.commit_).finish();
}

}  // namespace tenon::journal::sqlite
