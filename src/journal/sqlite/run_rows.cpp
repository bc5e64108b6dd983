#include "journal/sqlite/run_rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/counted.h"
#include "journal/sqlite/derive_row.h"

namespace tenon::journal::sqlite {

Result<std::optional<RunRow>, StoreError> find_run(Connection& connection, const RunName& run) {
  if (auto usable = connection.require_usable(); !usable) return failure(usable.error());
  Execution query(connection.statements().select_run);
  const StepResult step = query.text(run.text).step();
  if (step == StepResult::Failed) return failure(query.error());
  if (step == StepResult::Done) return std::optional<RunRow>{};
  auto row = read_run_row(connection.database(), query);
  if (!row) return failure(row.error());
  // An owner has repaired the row when it opened the store. What it finds since is damage that it must not build on.
  const bool is_derived = row->is_damaged && row->checksum && connection.access() == Access::Reader;
  if (!is_derived) return std::optional<RunRow>(std::move(*row));
  auto derived = derive_run_row(connection.database(), read_unverified_run_row(query));
  if (!derived) return failure(derived.error());
  const bool is_same_row = derived->row.id == row->id && derived->row.head.run == run;
  if (!derived->problem.empty() || !is_same_row) return std::optional<RunRow>(std::move(*row));
  derived->row.is_damaged = true;
  return std::optional<RunRow>(std::move(derived->row));
}

Result<RunRow, StoreError> get_run(Connection& connection, const RunName& run) {
  auto row = find_run(connection, run);
  if (!row) return failure(row.error());
  if (!*row) return failure(connection.missing_run(run));
  if ((*row)->head.summary.state == RunState::Forgotten)
    return failure(StoreError{StoreError::Kind::Missing,
                              fmt::format("{}: run {} was forgotten; of its {} nothing is left", connection.name(),
                                          run.text, counted((*row)->head.records, "record"))});
  return std::move(**row);
}

Result<std::vector<BatchRow>, StoreError> read_batches(Connection& connection, const RunRow& run, std::uint64_t from) {
  std::int64_t id = run.last_batch;
  {
    Execution query(connection.statements().select_milestone);
    const StepResult step = query.integer(run.id).integer(from).step();
    if (step == StepResult::Failed) return failure(query.error());
    if (step == StepResult::Row) id = query.get_integer(0);
  }
  std::vector<BatchRow> batches;
  std::uint64_t next = 0;  // the first number of the batch after it; 0: not known yet
  while (true) {
    Execution query(connection.statements().select_batch);
    const StepResult step = query.integer(id).step();
    if (step == StepResult::Failed) return failure(query.error());
    const std::uint64_t missing = next == 0 ? run.head.records : next - 1;
    if (step == StepResult::Done) return failure(connection.damaged_record(run.head.run, missing, "it is missing"));
    auto row = read_batch_row(connection.database(), query);
    if (!row) return failure(row.error());
    const bool is_in_order = row->run == run.id && row->first >= 1 && row->previous < row->id &&
                             row->first + row->count >= row->first && (next == 0 || row->first + row->count == next);
    if (!is_in_order) return failure(connection.damaged_record(run.head.run, missing, "its row does not fit the run"));
    next = row->first;
    id = row->previous;
    batches.push_back(std::move(*row));
    if (next <= from) break;
  }
  std::reverse(batches.begin(), batches.end());
  return batches;
}

}  // namespace tenon::journal::sqlite
