#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "journal/open_store.h"

struct sqlite3;
struct sqlite3_stmt;

/// SQLite as the store uses it: errors as values, statements that are prepared once. Nothing above this header sees
/// sqlite3.h.
namespace tenon::journal::sqlite {

class Database;

/// A statement that is compiled at its first use and kept. Belongs to one Database, which outlives it.
class Statement {
 public:
  Statement(Database& database, const char* sql) : database_(database), sql_(sql) {}
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

 private:
  friend class Execution;
  Database& database_;
  const char* sql_;
  sqlite3_stmt* compiled_ = nullptr;
};

enum class StepResult : std::uint8_t { Row, Done, Failed };

/// One execution of a statement. Texts and blobs that are bound must outlive it; columns are valid until the next step.
class Execution {
 public:
  explicit Execution(Statement& statement);
  ~Execution();
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;

  Execution& integer(std::int64_t value);
  Execution& integer(std::uint64_t value) { return integer(static_cast<std::int64_t>(value)); }
  Execution& text(std::string_view value);
  Execution& blob(std::string_view value);
  Execution& optional(const std::optional<std::int64_t>& value);

  [[nodiscard]] StepResult step();
  /// For a statement that returns no rows.
  [[nodiscard]] Result<void, StoreError> finish();
  /// After `Failed`.
  [[nodiscard]] StoreError error() const;

  [[nodiscard]] std::int64_t get_integer(int column) const;
  [[nodiscard]] std::uint64_t get_unsigned(int column) const { return static_cast<std::uint64_t>(get_integer(column)); }
  [[nodiscard]] std::optional<std::int64_t> find_integer(int column) const;
  [[nodiscard]] std::optional<std::string_view> find_bytes(int column) const;
  /// The bytes of a text or a blob.
  [[nodiscard]] std::string_view get_bytes(int column) const;

 private:
  Statement& statement_;
  int bound_ = 0;
  int code_ = 0;
};

/// How a file is opened that cannot be written, in a folder in which nothing can be created.
enum class ReadOnly : std::uint8_t {
  No,
  Yes,  ///< without locks and without an index of the log on disk: no other process may write the file meanwhile
};

struct DatabaseOptions {
  Access access = Access::Owner;
  std::string vfs;  ///< SQLite's name of the files' implementation; empty: the system's
  ReadOnly read_only = ReadOnly::No;
  std::string name = {};  ///< of the file in messages; empty: its path
};

/// A connection, used by one thread at a time.
class Database {
 public:
  /// An Owner makes the file if it is not there.
  [[nodiscard]] static Result<std::unique_ptr<Database>, StoreError> open(const std::string& path,
                                                                          const DatabaseOptions& options);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  [[nodiscard]] Result<void, StoreError> execute(const std::string& sql);
  /// The integer that a pragma or a query returns.
  [[nodiscard]] Result<std::int64_t, StoreError> query_integer(const char* sql);
  /// Copies the database, with what its log contains, into a new file. Others may write meanwhile: the copy is one
  /// state.
  [[nodiscard]] Result<void, StoreError> copy_to(const std::string& path);
  [[nodiscard]] const std::string& path() const { return path_; }
  /// The file in messages, as the user named it.
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] bool is_in_transaction() const;
  [[nodiscard]] std::int64_t last_row() const;
  [[nodiscard]] std::int64_t changes() const;
  /// How many milliseconds a statement waits for another process's lock.
  void set_busy_timeout(int timeout_ms);

  /// Rolls the transaction back. Fails only if the database is broken; see `broken`.
  void roll_back();

  /// Copies the write-ahead log's pages into the database. Passive: as far as no reader is in the way; Truncate: waits
  /// for readers as long as the time-out says, and empties the log.
  enum class Checkpoint : std::uint8_t { Passive, Truncate };
  [[nodiscard]] Result<void, StoreError> checkpoint(Checkpoint mode);
  /// Pages of the write-ahead log after the latest commit of this connection.
  [[nodiscard]] int log_pages() const { return log_pages_; }
  /// Those of them that came after the latest checkpoint.
  [[nodiscard]] int log_pages_since_checkpoint() const { return log_pages_ - log_pages_at_checkpoint_; }

  /// The error after which this connection does nothing any more: a write or an fsync failed.
  [[nodiscard]] const std::optional<StoreError>& broken() const { return broken_; }
  /// Translates SQLite's code; one that says that a write or an fsync failed breaks the connection.
  [[nodiscard]] StoreError make_error(int code);

 private:
  friend class Execution;
  friend class Transaction;
  Database(std::string path, std::string name) : path_(std::move(path)), name_(std::move(name)) {}
  static int on_commit(void* self, sqlite3*, const char* database, int pages);

  std::string path_;
  std::string name_;
  sqlite3* handle_ = nullptr;
  int log_pages_ = 0;
  int log_pages_at_checkpoint_ = 0;
  std::optional<Statement> begin_read_;
  std::optional<Statement> begin_write_;
  std::optional<Statement> commit_;
  std::optional<StoreError> broken_;
};

/// Rolls back what is not committed when it ends.
class Transaction {
 public:
  enum class Kind : std::uint8_t { Read, Write };
  explicit Transaction(Database& database) : database_(database) {}
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  [[nodiscard]] Result<void, StoreError> begin(Kind kind);
  [[nodiscard]] Result<void, StoreError> commit();

 private:
  Database& database_;
};

[[nodiscard]] inline StoreError damaged(std::string message) {
  return {StoreError::Kind::Damaged, std::move(message)};
}

}  // namespace tenon::journal::sqlite
