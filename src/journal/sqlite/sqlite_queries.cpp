#include "journal/sqlite/sqlite_queries.h"

#include <algorithm>

namespace tenon::journal::sqlite {

Result<std::vector<RunHead>, StoreError> SqliteQueries::read_heads(Execution& query) {
  std::vector<RunHead> heads;
  while (true) {
    const StepResult step = query.step();
    if (step == StepResult::Done) return heads;
    if (step == StepResult::Failed) return failure(query.error());
    auto row = read_run_row(connection_.database(), query);
    if (!row) return failure(row.error());
    heads.push_back(std::move(row->head));
  }
}

Result<std::vector<RunHead>, StoreError> SqliteQueries::list(const RunFilter& filter) {
  if (auto usable = connection_.require_usable(); !usable) return failure(usable.error());
  if (filter.state) {
    Execution query(connection_.statements().select_runs_of_state);
    query.integer(static_cast<std::int64_t>(*filter.state)).text(filter.after).integer(row_limit(filter.limit));
    return read_heads(query);
  }
  Execution query(connection_.statements().select_runs);
  query.text(filter.after).integer(row_limit(filter.limit));
  return read_heads(query);
}

Result<std::vector<RunHead>, StoreError> SqliteQueries::due(std::int64_t now, std::size_t limit) {
  if (auto usable = connection_.require_usable(); !usable) return failure(usable.error());
  Execution query(connection_.statements().select_due);
  query.integer(now).integer(row_limit(limit));
  return read_heads(query);
}

Result<std::optional<std::int64_t>, StoreError> SqliteQueries::next_due() {
  if (auto usable = connection_.require_usable(); !usable) return failure(usable.error());
  Execution query(connection_.statements().select_next_due);
  if (query.step() != StepResult::Row) return failure(query.error());
  return query.find_integer(0);
}

}  // namespace tenon::journal::sqlite
