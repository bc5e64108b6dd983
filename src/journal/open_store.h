#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "journal/inbox.h"
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

/// An owner writes journals; a reader only reads them, and writes to the inbox.
enum class Access : std::uint8_t { Owner, Reader };

/// 16 MiB: a page that many commits write is copied once, and fewer than one commit in a hundred waits for a copy.
inline constexpr int default_checkpoint_pages = 4'000;

/// What to do about a write-ahead log in which acknowledged commits follow a damaged part.
enum class DamagedLog : std::uint8_t {
  Refuse,  ///< do not open the store: `Damaged`
  Cut,     ///< an owner: keep a copy of the log, and open the store without those commits
  Report,  ///< a reader: open the store without those commits; `StoreAdmin::check` reports the damage
};

struct StoreOptions {
  Durability durability = Durability::Full;
  Access access = Access::Owner;
  /// The write-ahead log is copied into the database after this number of new pages of 4 KiB.
  int checkpoint_pages = default_checkpoint_pages;
  DamagedLog damaged_log = DamagedLog::Refuse;
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
  /// Any thread.
  [[nodiscard]] virtual Wakeups& wakeups() = 0;
  [[nodiscard]] virtual StoreAdmin& admin() = 0;
  /// What was repaired when the store was opened, and what could not be: sentences for the operator.
  [[nodiscard]] virtual const std::vector<std::string>& notices() const = 0;
};

/// Where a store is: `sqlite:PATH`, or a path alone, which means the same.
struct StoreLocation {
  std::string scheme;
  std::string path;
};

/// Splits a store's URL. `Format` for a scheme that no store has. A path that looks like a URL (`a:b`) needs `./` or a
/// scheme before it.
[[nodiscard]] Result<StoreLocation, StoreError> parse_store_url(const std::string& url);

/// The file of a store, beside which files that belong to it are kept. For an empty or unknown URL the URL itself.
[[nodiscard]] std::string file_of_store(const std::string& url);

/// Opens the store at `url`. An owner creates it if it does not exist, and gets `InUse` if another connection owns it.
/// For a reader a store that does not exist is `Missing`.
[[nodiscard]] Result<std::unique_ptr<StoreConnection>, StoreError> open_store(const std::string& url,
                                                                              const StoreOptions& options);

}  // namespace tenon::journal
