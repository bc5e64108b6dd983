// What can be read: each in one transaction, so that a reader sees one state while the owner goes on.
#include <fmt/format.h>

#include <algorithm>

#include "journal/batch.h"
#include "journal/sqlite_store.h"

namespace tenon::journal {
namespace {

/// SQLite's LIMIT is signed.
std::int64_t row_limit(std::size_t limit) {
  return static_cast<std::int64_t>(std::min<std::size_t>(limit, INT64_MAX));
}

}  // namespace

Result<std::optional<RunRow>, StoreError> SqliteStore::find_run(const RunName& run) {
  if (database_->broken()) return failure(*database_->broken());
  Execution query(statements_.select_run);
  const StepResult step = query.text(run.text).step();
  if (step == StepResult::Failed) return failure(query.error());
  if (step == StepResult::Done) return std::optional<RunRow>{};
  auto row = read_run_row(*database_, query);
  if (!row) return failure(row.error());
  return std::optional<RunRow>(std::move(*row));
}

Result<RunRow, StoreError> SqliteStore::get_run(const RunName& run) {
  auto row = find_run(run);
  if (!row) return failure(row.error());
  if (!*row) return failure(missing_run(run));
  if ((*row)->head.summary.state == RunState::Forgotten)
    return failure(
        StoreError{StoreError::Kind::Missing, fmt::format("{}: run {} was forgotten; of its {} records nothing is left",
                                                          database_->path(), run.text, (*row)->head.records)});
  return std::move(**row);
}

Result<RunHead, StoreError> SqliteStore::head(const RunName& run) {
  auto row = find_run(run);
  if (!row) return failure(row.error());
  if (!*row) return failure(missing_run(run));
  return std::move((*row)->head);
}

Result<std::vector<RunHead>, StoreError> SqliteStore::read_heads(Execution& query) {
  std::vector<RunHead> heads;
  while (true) {
    const StepResult step = query.step();
    if (step == StepResult::Done) return heads;
    if (step == StepResult::Failed) return failure(query.error());
    auto row = read_run_row(*database_, query);
    if (!row) return failure(row.error());
    heads.push_back(std::move(row->head));
  }
}

Result<std::vector<RunHead>, StoreError> SqliteStore::runs(const RunFilter& filter) {
  if (database_->broken()) return failure(*database_->broken());
  if (filter.state) {
    Execution query(statements_.select_runs_of_state);
    query.integer(static_cast<std::int64_t>(*filter.state)).text(filter.after).integer(row_limit(filter.limit));
    return read_heads(query);
  }
  Execution query(statements_.select_runs);
  query.text(filter.after).integer(row_limit(filter.limit));
  return read_heads(query);
}

Result<std::vector<RunHead>, StoreError> SqliteStore::due(std::int64_t now, std::size_t limit) {
  if (database_->broken()) return failure(*database_->broken());
  Execution query(statements_.select_due);
  query.integer(now).integer(row_limit(limit));
  return read_heads(query);
}

Result<std::optional<std::int64_t>, StoreError> SqliteStore::next_due() {
  if (database_->broken()) return failure(*database_->broken());
  Execution query(statements_.select_next_due);
  if (query.step() != StepResult::Row) return failure(query.error());
  return query.find_integer(0);
}

Result<std::vector<BatchRow>, StoreError> SqliteStore::read_batches(const RunRow& run, std::uint64_t from) {
  std::int64_t id = run.last_batch;
  {
    Execution query(statements_.select_milestone);
    const StepResult step = query.integer(run.id).integer(from).step();
    if (step == StepResult::Failed) return failure(query.error());
    if (step == StepResult::Row) id = query.get_integer(0);
  }
  std::vector<BatchRow> batches;
  std::uint64_t next = 0;  // the first number of the batch after it; 0: not known yet
  while (true) {
    Execution query(statements_.select_batch);
    const StepResult step = query.integer(id).step();
    if (step == StepResult::Failed) return failure(query.error());
    const std::uint64_t missing = next == 0 ? run.head.records : next - 1;
    if (step == StepResult::Done) return failure(damaged_record(run.head.run, missing, "it is missing"));
    auto row = read_batch_row(*database_, query);
    if (!row) return failure(row.error());
    const bool is_in_order = row->run == run.id && row->first >= 1 && row->previous < row->id &&
                             row->first + row->count >= row->first && (next == 0 || row->first + row->count == next);
    if (!is_in_order) return failure(damaged_record(run.head.run, missing, "its row belongs elsewhere"));
    next = row->first;
    id = row->previous;
    batches.push_back(std::move(*row));
    if (next <= from) break;
  }
  std::reverse(batches.begin(), batches.end());
  return batches;
}

Result<std::vector<Record>, StoreError> SqliteStore::read(const RunName& run, std::uint64_t after, std::size_t limit) {
  if (database_->broken()) return failure(*database_->broken());
  Transaction transaction(*database_);
  if (auto done = transaction.begin(Transaction::Kind::Read); !done) return failure(done.error());
  const auto row = get_run(run);
  if (!row) return failure(row.error());
  std::vector<Record> records;
  std::uint64_t next = after + 1;
  std::optional<Hash> chain;  // after record next-1, once that is known
  if (after == 0) chain = chain_start(run);
  while (after < row->head.records && next <= row->head.records && records.size() < limit) {
    const auto batches = read_batches(*row, next);
    if (!batches) return failure(batches.error());
    const std::uint64_t asked = next;
    for (const BatchRow& batch : *batches) {
      if (chain && *chain != batch.chain_before)
        return failure(damaged_record(run, batch.first, "the chain does not go on here"));
      const auto decoded = decode_batch(batch.chain_before, batch.bytes);
      if (!decoded) return failure(damaged_record(run, batch.first + decoded.error().record, decoded.error().what));
      if (decoded->records.size() != batch.count)
        return failure(damaged_record(run, batch.first, "the number of records is not what the row says"));
      for (std::size_t at = 0; at < decoded->records.size(); ++at) {
        if (batch.first + at < next || records.size() == limit) continue;
        records.push_back({batch.first + at, std::string(decoded->records[at])});
        ++next;
      }
      chain = decoded->chain;
      if (batch.first + batch.count <= row->head.records) continue;
      if (batch.first + batch.count != row->head.records + 1)
        return failure(damaged_record(run, row->head.records, "there are more records than the run's head says"));
      if (*chain != row->head.chain)
        return failure(damaged_record(run, row->head.records, "the chain ends elsewhere than the run's head says"));
    }
    if (next == asked) return failure(damaged_record(run, next, "it is missing"));
  }
  return records;
}

Result<std::optional<Note>, StoreError> SqliteStore::find_note(std::string_view key) {
  if (database_->broken()) return failure(*database_->broken());
  Execution query(statements_.select_note);
  const StepResult step = query.text(key).step();
  if (step == StepResult::Failed) return failure(query.error());
  if (step == StepResult::Done) return std::optional<Note>{};
  return std::optional<Note>(
      Note{std::string(query.get_bytes(0)), std::string(query.get_bytes(1)), query.find_integer(2)});
}

Result<std::optional<Snapshot>, StoreError> SqliteStore::snapshot(const RunName& run) {
  if (database_->broken()) return failure(*database_->broken());
  Transaction transaction(*database_);
  if (auto done = transaction.begin(Transaction::Kind::Read); !done) return failure(done.error());
  const auto row = get_run(run);
  if (!row) return failure(row.error());
  Execution query(statements_.select_snapshot);
  const StepResult step = query.integer(row->id).step();
  if (step == StepResult::Failed) return failure(query.error());
  if (step == StepResult::Done) return std::optional<Snapshot>{};
  Snapshot snapshot{query.get_unsigned(0), std::string(query.get_bytes(2))};
  const auto hash = Hash::from_bytes(query.get_bytes(1));
  if (!hash || *hash != sha256(snapshot.bytes) || snapshot.after > row->head.records)
    return failure(
        damaged(fmt::format("{}: run {}: its snapshot after record {} does not hold; `compact` drops it, and "
                            "the records say the same",
                            database_->path(), run.text, snapshot.after)));
  return std::optional<Snapshot>(std::move(snapshot));
}

}  // namespace tenon::journal
