#include "journal/postgres/open_postgres.h"

#include <utility>

#include "journal/postgres/connection.h"
#include "journal/postgres/postgres_admin.h"
#include "journal/postgres/postgres_inbox.h"
#include "journal/postgres/postgres_ownership.h"
#include "journal/postgres/postgres_queries.h"
#include "journal/postgres/postgres_store.h"
#include "journal/postgres/postgres_wakeups.h"
#include "journal/postgres/row_repair.h"

namespace tenon::journal::postgres {
namespace {

class PostgresConnection final : public StoreConnection {
 public:
  explicit PostgresConnection(std::unique_ptr<Connection> connection)
      : connection_(std::move(connection)),
        keeper_(connection_->options().access == Access::Owner ? std::make_unique<Keeper>(*connection_) : nullptr) {}
  ~PostgresConnection() override { stop_waiting(); }

  /// An owner: becomes one.
  [[nodiscard]] Result<void, StoreError> join() { return keeper_->join(); }

  /// Derives damaged rows of all runs from their records. An owner does it with each run that it claims.
  [[nodiscard]] Result<void, StoreError> repair() {
    auto repaired = repair_all_rows(*connection_);
    if (!repaired) return failure(std::move(repaired.error()));
    connection_->notices().insert(connection_->notices().end(), repaired->begin(), repaired->end());
    return {};
  }

  [[nodiscard]] Store& journals() override { return store_; }
  [[nodiscard]] RunQueries& runs() override { return queries_; }
  [[nodiscard]] Inbox& inbox() override { return inbox_; }
  [[nodiscard]] Wakeups& wakeups() override { return wakeups_; }
  [[nodiscard]] Ownership& ownership() override { return ownership_; }
  [[nodiscard]] StoreAdmin& admin() override { return admin_; }
  void stop_waiting() override { connection_->stop().stop(); }
  [[nodiscard]] const std::vector<std::string>& notices() const override { return connection_->notices(); }

 private:
  std::unique_ptr<Connection> connection_;
  std::unique_ptr<Keeper> keeper_;  ///< of an owner
  PostgresStore store_{*connection_, keeper_.get()};
  PostgresOwnership ownership_{*connection_, store_.claims(), keeper_.get()};
  PostgresWakeups wakeups_{keeper_.get()};
  PostgresQueries queries_{*connection_};
  PostgresInbox inbox_{*connection_};
  PostgresAdmin admin_{*connection_, store_};
};

}  // namespace

Result<std::unique_ptr<StoreConnection>, StoreError> open_postgres(const std::string& url,
                                                                   const StoreOptions& options) {
  auto address = parse_server_url(url);
  if (!address) return failure(std::move(address.error()));
  auto connection = Connection::open(std::move(*address), options);
  if (!connection) return failure(std::move(connection.error()));
  auto opened = std::make_unique<PostgresConnection>(std::move(*connection));
  if (options.access == Access::Owner)
    if (auto done = opened->join(); !done) return failure(std::move(done.error()));
  if (options.access == Access::Owner && options.damaged_log == DamagedLog::Cut)
    if (auto done = opened->repair(); !done) return failure(std::move(done.error()));
  return opened;
}

}  // namespace tenon::journal::postgres
