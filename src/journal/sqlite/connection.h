#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "journal/open_store.h"
#include "journal/sqlite/database.h"
#include "journal/sqlite/owner_lock.h"
#include "journal/sqlite/statements.h"
#include "journal/sqlite/store_file.h"

namespace tenon::journal::sqlite {

/// An open store's database, its statements and, for an owner, its lock. Used by one thread at a time.
class Connection {
 public:
  /// An owner creates the store if it does not exist, and gets `InUse` if another connection owns it. For a reader a
  /// store that does not exist is `Missing`; one that cannot be written is read without locks, if no process owns it.
  [[nodiscard]] static Result<std::unique_ptr<Connection>, StoreError> open(const std::string& path,
                                                                            const StoreOptions& options);

  [[nodiscard]] Database& database() { return *database_; }
  [[nodiscard]] Statements& statements() { return *statements_; }
  /// Of the file, without symbolic links.
  [[nodiscard]] const std::string& path() const { return database_->path(); }
  /// The file in messages.
  [[nodiscard]] const std::string& name() const { return database_->name(); }
  [[nodiscard]] Access access() const { return options_.access; }
  /// As StoreConnection::notices.
  [[nodiscard]] std::vector<std::string>& notices() { return notices_; }

  /// Fails when the connection is broken.
  [[nodiscard]] Result<void, StoreError> require_usable() const;
  /// Fails when the connection is broken or a reader's, and with `Full` while the log of a former process does not fit
  /// into the database.
  [[nodiscard]] Result<void, StoreError> require_writable();

  /// As Store::maintain.
  [[nodiscard]] Result<void, StoreError> maintain();
  /// Copies all of the log into the database and empties it, as far as no reader is in the way: an owner's last act.
  /// SQLite does so by itself only for the last connection to a store, which may be a reader's.
  void empty_log();
  /// Calls `maintain` when a copy of the log is long overdue.
  [[nodiscard]] Result<void, StoreError> maintain_if_overdue();

  [[nodiscard]] StoreError missing_run(const RunName& run) const;
  [[nodiscard]] StoreError damaged_record(const RunName& run, std::uint64_t number, std::string_view what) const;

 private:
  /// What a connection has of the store's file before it opens the database.
  struct Place {
    std::string path;
    std::string name;
    std::optional<OwnerLock> lock = {};  ///< an owner's
    std::optional<StoreFile> file = {};
  };

  Connection(Place place, std::unique_ptr<Database> database, const StoreOptions& options);
  [[nodiscard]] static Result<Place, StoreError> take_place(const std::string& given, const StoreOptions& options);
  [[nodiscard]] static Result<std::unique_ptr<Connection>, StoreError> open_read_only(Place place,
                                                                                      const StoreOptions& options,
                                                                                      std::vector<std::string> notices);
  [[nodiscard]] Result<void, StoreError> set_up();
  [[nodiscard]] Result<void, StoreError> prepare();
  [[nodiscard]] Result<void, StoreError> copy_former_log();
  /// Adds to the notices those of the runs that the store does not have.
  [[nodiscard]] Result<void, StoreError> notice_missing(std::span<const std::string> runs);

  StoreOptions options_;
  std::vector<std::string> notices_;
  Place place_;
  std::unique_ptr<Database> database_;
  std::unique_ptr<Statements> statements_;  ///< of `database_`
  bool has_former_log_ = false;             ///< the log of a former process is to be copied before anything is written
};

}  // namespace tenon::journal::sqlite
