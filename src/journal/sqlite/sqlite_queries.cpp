#include "journal/sqlite/sqlite_queries.h"

#include <algorithm>

namespace tenon::journal::sqlite {
namespace {

const DueRun before_all{INT64_MIN, {}};

}  // namespace

Result<std::vector<RunHead>, StoreError> SqliteQueries::read_heads(Execution& query) {
  std::vector<RunHead> heads;
  while (true) {
    const StepResult step = query.step();
    if (step == StepResult::Done) return heads;
    if (step == StepResult::Failed) return failure(query.error());
    auto row = read_run_row(connection_.database(), query);
    if (!row) return failure(row.error());
    row->head.is_damaged = row->is_damaged;
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

Result<std::vector<DueRun>, StoreError> SqliteQueries::due(const DueFilter& filter) {
  if (auto usable = connection_.require_usable(); !usable) return failure(usable.error());
  const DueRun after = filter.after.value_or(before_all);
  Execution query(connection_.statements().select_due);
  query.integer(after.wake_at).text(after.run.text).integer(filter.now).integer(row_limit(filter.limit));
  std::vector<DueRun> due;
  while (true) {
    const StepResult step = query.step();
    if (step == StepResult::Done) return due;
    if (step == StepResult::Failed) return failure(query.error());
    due.push_back({query.get_integer(0), {std::string(query.get_bytes(1))}});
  }
}

Result<std::optional<std::int64_t>, StoreError> SqliteQueries::next_due(const std::optional<DueRun>& after,
                                                                        OwnerId /*owner*/) {
  if (auto usable = connection_.require_usable(); !usable) return failure(usable.error());
  const DueRun from = after.value_or(before_all);
  Execution query(connection_.statements().select_next_due);
  query.integer(from.wake_at).text(from.run.text);
  const StepResult step = query.step();
  if (step == StepResult::Failed) return failure(query.error());
  if (step == StepResult::Done) return std::optional<std::int64_t>();
  return std::optional(query.get_integer(0));
}

Result<std::optional<RunName>, StoreError> SqliteQueries::newest() {
  if (auto usable = connection_.require_usable(); !usable) return failure(usable.error());
  Execution query(connection_.statements().select_newest);
  const StepResult step = query.step();
  if (step == StepResult::Failed) return failure(query.error());
  if (step == StepResult::Done) return std::optional<RunName>();
  return std::optional(RunName{std::string(query.get_bytes(0))});
}

Result<StoreCounts, StoreError> SqliteQueries::count() {
  if (auto usable = connection_.require_usable(); !usable) return failure(usable.error());
  StoreCounts counts;
  Execution runs(connection_.statements().count_runs);
  for (StepResult step = runs.step(); step != StepResult::Done; step = runs.step()) {
    if (step == StepResult::Failed) return failure(runs.error());
    counts.runs.emplace(static_cast<RunState>(runs.get_integer(0)), static_cast<std::uint64_t>(runs.get_integer(1)));
  }
  Execution commands(connection_.statements().count_commands);
  if (commands.step() != StepResult::Row) return failure(commands.error());
  counts.commands = static_cast<std::uint64_t>(commands.get_integer(0));
  return counts;
}

}  // namespace tenon::journal::sqlite
