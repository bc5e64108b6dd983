#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "journal/inbox.h"
#include "journal/ownership.h"
#include "journal/run_queries.h"
#include "journal/store.h"
#include "journal/store_admin.h"
#include "journal/wakeups.h"

namespace tenon::journal {

/// What an acknowledged append survives.
enum class Durability : std::uint8_t {
  Full,     ///< a crash of the machine: each commit waits for the disk
  Process,  ///< a crash of the process, also `kill -9`; a power cut may lose the newest commits, each as a whole
};

/// An owner writes the journals of its runs; a reader only reads them, and writes to the inbox.
enum class Access : std::uint8_t { Owner, Reader };

/// 16 MiB: a page that many commits write is copied once, and fewer than one commit in a hundred waits for a copy.
inline constexpr int default_checkpoint_pages = 4'000;

/// What to do about a write-ahead log in which acknowledged commits follow a damaged part. A store in a database has no
/// such log; there `Cut` only means that damaged summaries of all runs are derived from their records.
enum class DamagedLog : std::uint8_t {
  Refuse,  ///< do not open the store: `Damaged`
  Cut,     ///< an owner: keep a copy of the log, and open the store without those commits
  Report,  ///< a reader: open the store without those commits; `StoreAdmin::check` reports the damage
};

/// A partition of the network stops the runs of an owner for about this long, until others take them.
inline constexpr std::chrono::milliseconds default_lease{5'000};

struct StoreOptions {
  Durability durability = Durability::Full;
  Access access = Access::Owner;
  bool creates = true;  ///< of an owner: a store that does not exist; otherwise that is `Missing`, as for a reader
  /// The write-ahead log is copied into the database after this number of new pages of 4 KiB.
  int checkpoint_pages = default_checkpoint_pages;
  DamagedLog damaged_log = DamagedLog::Refuse;
  /// Of an owner; a store in a file has one owner, whatever its role.
  OwnerRole role = OwnerRole::Visitor;
  std::string pool = {};  ///< of a Host
  /// How long an owner in a database may be silent before others take its runs.
  std::chrono::milliseconds lease = default_lease;
  /// Of a reader whose thread has other work: how long a call waits until a database's server can be reached and
  /// replies. While the server cannot be reached, calls fail at once. Nothing: several seconds, and for any reply.
  std::optional<std::chrono::milliseconds> patience = std::nullopt;
  /// The registered name of the disk to use; empty: the system's files. Tests use a disk that fails.
  std::string disk = {};
};

/// An open store. Its interfaces belong to it, share one connection and are used by one thread at a time.
class StoreConnection {
 public:
  virtual ~StoreConnection() = default;
  [[nodiscard]] virtual Store& journals() = 0;
  [[nodiscard]] virtual RunQueries& runs() = 0;
  [[nodiscard]] virtual Inbox& inbox() = 0;
  /// Of a reader it does not belong to an owner: it has no runs, and claims none.
  [[nodiscard]] virtual Ownership& ownership() = 0;
  /// Any thread.
  [[nodiscard]] virtual Wakeups& wakeups() = 0;
  [[nodiscard]] virtual StoreAdmin& admin() = 0;
  /// The connection is about to be closed: calls in progress, and later ones, do not wait for a server that cannot be
  /// reached, and fail with `Unavailable` then. Any thread.
  virtual void stop_waiting() {}
  /// What was repaired when the store was opened, and what could not be: sentences for the operator.
  [[nodiscard]] virtual const std::vector<std::string>& notices() const = 0;
};

/// Where a store is: `sqlite:PATH`, or a path alone, which means the same; `postgres://…` or `postgresql://…`.
struct StoreLocation {
  enum class Kind : std::uint8_t { File, Database } kind = Kind::File;
  std::string path;  ///< of the file; the URL of the database
};

/// Splits a store's URL. `Format` for a scheme that no store has. A path that looks like a URL (`a:b`) needs `./` or a
/// scheme before it.
[[nodiscard]] Result<StoreLocation, StoreError> parse_store_url(const std::string& url);

/// The file of a store, beside which files that belong to it are kept: where a symbolic link leads. Nothing for a store
/// in a database, and for an empty or unknown URL.
[[nodiscard]] std::optional<std::string> file_of_store(const std::string& url);

/// The URL as it may be shown: without passwords.
[[nodiscard]] std::string name_of_store(const std::string& url);

/// Opens the store at `url`. An owner creates it if it does not exist, unless the options say otherwise. A store in a
/// file has one owner: the next one gets `InUse`. For a reader a store that does not exist is `Missing`.
[[nodiscard]] Result<std::unique_ptr<StoreConnection>, StoreError> open_store(const std::string& url,
                                                                              const StoreOptions& options);

}  // namespace tenon::journal
