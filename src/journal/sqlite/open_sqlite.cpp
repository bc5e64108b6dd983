#include "journal/sqlite/open_sqlite.h"

#include <utility>

#include "journal/sqlite/connection.h"
#include "journal/sqlite/lock_file_wakeups.h"
#include "journal/sqlite/repair_rows.h"
#include "journal/sqlite/sqlite_admin.h"
#include "journal/sqlite/sqlite_inbox.h"
#include "journal/sqlite/sqlite_ownership.h"
#include "journal/sqlite/sqlite_queries.h"
#include "journal/sqlite/sqlite_store.h"

namespace tenon::journal::sqlite {
namespace {

class SqliteConnection final : public StoreConnection {
 public:
  explicit SqliteConnection(std::unique_ptr<Connection> connection) : connection_(std::move(connection)) {}
  ~SqliteConnection() override { connection_->empty_log(); }
  SqliteConnection(const SqliteConnection&) = delete;
  SqliteConnection& operator=(const SqliteConnection&) = delete;

  [[nodiscard]] Store& journals() override { return store_; }
  [[nodiscard]] RunQueries& runs() override { return queries_; }
  [[nodiscard]] Inbox& inbox() override { return inbox_; }
  [[nodiscard]] Wakeups& wakeups() override { return wakeups_; }
  [[nodiscard]] Ownership& ownership() override { return ownership_; }
  [[nodiscard]] StoreAdmin& admin() override { return admin_; }
  [[nodiscard]] const std::vector<std::string>& notices() const override { return connection_->notices(); }

 private:
  std::unique_ptr<Connection> connection_;
  SqliteStore store_{*connection_};
  SqliteOwnership ownership_{*connection_, store_};
  SqliteQueries queries_{*connection_};
  LockFileWakeups wakeups_{connection_->path()};
  SqliteInbox inbox_{*connection_, wakeups_};
  SqliteAdmin admin_{*connection_};
};

}  // namespace

Result<std::unique_ptr<StoreConnection>, StoreError> open_sqlite(const std::string& path, const StoreOptions& options) {
  auto connection = Connection::open(path, options);
  if (!connection) return failure(std::move(connection.error()));
  if (options.access == Access::Owner) {
    std::vector<std::string>& notices = (*connection)->notices();
    const auto repaired = repair_run_rows(**connection);
    // Without space a repair is left to the next time; the store can be read.
    if (!repaired && repaired.error().kind != StoreError::Kind::Full) return failure(repaired.error());
    if (repaired) notices.insert(notices.end(), repaired->begin(), repaired->end());
  }
  return std::make_unique<SqliteConnection>(std::move(*connection));
}

}  // namespace tenon::journal::sqlite
