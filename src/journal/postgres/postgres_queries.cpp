#include "journal/postgres/postgres_queries.h"

#include "journal/postgres/run_rows.h"

namespace tenon::journal::postgres {
namespace {

const Statement select_runs{"SELECT " TENON_HEAD_COLUMNS
                            " FROM runs AS r WHERE r.name > $1::text ORDER BY r.name LIMIT $2::bigint"};
const Statement select_runs_of_state{
    "SELECT " TENON_HEAD_COLUMNS
    " FROM runs AS r WHERE r.state = $3::bigint AND r.name > $1::text ORDER BY r.name LIMIT $2::bigint"};

/// Runs that the owner $3 has or may claim; 0: all.
#define TENON_OF_OWNER                                                                                        \
  "($3::bigint = 0 OR r.owner = $3::bigint OR (NOT EXISTS (SELECT FROM owners AS o WHERE o.id = r.owner AND " \
  "o.dead_at IS NULL) AND EXISTS (SELECT FROM owners AS me WHERE me.id = $3::bigint AND (me.role <> 1 OR "    \
  "me.pool = r.pool))))"
const Statement select_due{
    "SELECT r.wake_at, r.name FROM runs AS r WHERE (r.wake_at, r.name) > ($1::bigint, $2::text) "
    "AND r.wake_at <= $4::bigint AND " TENON_OF_OWNER " ORDER BY r.wake_at, r.name LIMIT $5::bigint"};
const Statement select_next_due{
    "SELECT r.wake_at FROM runs AS r WHERE (r.wake_at, r.name) > ($1::bigint, $2::text) "
    "AND r.wake_at IS NOT NULL AND " TENON_OF_OWNER " ORDER BY r.wake_at, r.name LIMIT 1"};
#undef TENON_OF_OWNER

const Statement select_newest{"SELECT name FROM runs ORDER BY name DESC LIMIT 1"};
const Statement count_runs{"SELECT state, count(*) FROM runs GROUP BY state"};
const Statement count_commands{"SELECT count(*) FROM inbox WHERE reply IS NULL"};

const DueRun before_all{INT64_MIN, {}};

}  // namespace

Result<std::vector<RunHead>, StoreError> PostgresQueries::list(const RunFilter& filter) {
  Parameters given;
  given.bytes(filter.after).integer(row_limit(filter.limit));
  if (filter.state) given.integer(static_cast<std::int64_t>(*filter.state));
  const auto rows = connection_.link().query(filter.state ? select_runs_of_state : select_runs, given);
  if (!rows) return failure(rows.error());
  std::vector<RunHead> heads;
  heads.reserve(rows->size());
  for (std::size_t row = 0; row < rows->size(); ++row) heads.push_back(std::move(read_run_row(*rows, row).head));
  return heads;
}

Result<std::vector<DueRun>, StoreError> PostgresQueries::due(const DueFilter& filter) {
  const DueRun after = filter.after.value_or(before_all);
  Parameters given;
  given.integer(after.wake_at).bytes(after.run.text).integer(filter.owner.number);
  given.integer(filter.now).integer(row_limit(filter.limit));
  const auto rows = connection_.link().query(select_due, given);
  if (!rows) return failure(rows.error());
  std::vector<DueRun> due;
  due.reserve(rows->size());
  for (std::size_t row = 0; row < rows->size(); ++row)
    due.push_back({rows->get_integer(row, 0), {rows->get_text(row, 1)}});
  return due;
}

Result<std::optional<std::int64_t>, StoreError> PostgresQueries::next_due(const std::optional<DueRun>& after,
                                                                          OwnerId owner) {
  const DueRun from = after.value_or(before_all);
  Parameters given;
  given.integer(from.wake_at).bytes(from.run.text).integer(owner.number);
  const auto rows = connection_.link().query(select_next_due, given);
  if (!rows) return failure(rows.error());
  if (rows->size() == 0) return std::optional<std::int64_t>();
  return std::optional(rows->get_integer(0, 0));
}

Result<std::optional<RunName>, StoreError> PostgresQueries::newest() {
  const auto rows = connection_.link().query(select_newest, Parameters());
  if (!rows) return failure(rows.error());
  if (rows->size() == 0) return std::optional<RunName>();
  return std::optional(RunName{rows->get_text(0, 0)});
}

Result<StoreCounts, StoreError> PostgresQueries::count() {
  const auto runs = connection_.link().query(count_runs, Parameters());
  if (!runs) return failure(runs.error());
  const auto commands = connection_.link().query(count_commands, Parameters());
  if (!commands) return failure(commands.error());
  StoreCounts counts{.commands = static_cast<std::uint64_t>(commands->get_integer(0, 0))};
  for (std::size_t row = 0; row < runs->size(); ++row) {
    counts.runs.emplace(static_cast<RunState>(runs->get_integer(row, 0)),
                        static_cast<std::uint64_t>(runs->get_integer(row, 1)));
  }
  return counts;
}

}  // namespace tenon::journal::postgres
