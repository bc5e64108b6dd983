#include "journal/postgres/postgres_ownership.h"

namespace tenon::journal::postgres {
namespace {

const Statement select_pools{R"sql(
  SELECT w.pool FROM (
    SELECT r.pool, r.owner FROM runs AS r WHERE r.state = 0
    UNION SELECT r.pool, r.owner FROM runs AS r
      WHERE r.wake_at <= (extract(epoch FROM clock_timestamp()) * 1000)::bigint
    UNION SELECT i.pool, i.target FROM inbox AS i WHERE i.reply IS NULL) AS w(pool, owner)
  WHERE NOT EXISTS (SELECT FROM owners AS o WHERE o.dead_at IS NULL AND (o.id = w.owner
                                                                         OR (o.role = 1 AND o.pool = w.pool)))
  GROUP BY w.pool ORDER BY w.pool)sql"};

}  // namespace

Result<std::vector<RunHead>, StoreError> PostgresOwnership::claim_abandoned(std::size_t limit,
                                                                            std::span<const RunName> except) {
  if (auto writable = connection_.require_writable(); !writable) return failure(writable.error());
  const std::uint64_t abandonments = keeper_->abandonments();
  const auto search = abandonments == searched_after_ ? Claims::Search::WhenDue : Claims::Search::Now;
  auto claimed = claims_.claim_abandoned({limit, except}, keeper_->take_given(), search);
  if (claimed) searched_after_ = abandonments;
  return claimed;
}

Result<void, StoreError> PostgresOwnership::give_back(std::span<const RunName> runs) {
  auto released = claims_.release(runs);
  if (released && keeper_ != nullptr) keeper_->announce_moves({runs.begin(), runs.end()});
  return released;
}

Result<void, StoreError> PostgresOwnership::rejoin() {
  if (auto writable = connection_.require_writable(); !writable) return writable;
  if (keeper_->lease() != LeaseState::Lost) return {};
  claims_.forget_known();
  return keeper_->join();
}

Result<std::vector<std::string>, StoreError> PostgresOwnership::pools_without_hosts() {
  const auto rows = connection_.link().query(select_pools);
  if (!rows) return failure(rows.error());
  std::vector<std::string> pools;
  for (std::size_t row = 0; row < rows->size(); ++row) pools.push_back(rows->get_text(row, 0));
  return pools;
}

Result<std::vector<Owner>, StoreError> PostgresOwnership::owners() {
  const auto session = connection_.link().get();
  if (!session) return failure(session.error());
  auto owners = list_owners(**session);
  if (!owners) return failure(connection_.error(owners.error()));
  return std::move(*owners);
}

}  // namespace tenon::journal::postgres
