// Everything that is read is read in one transaction, so that a reader sees one state while the owner writes.
#include "journal/sqlite/sqlite_store.h"

#include <fmt/format.h>

#include "journal/sqlite/run_rows.h"
#include "journal/sqlite/sqlite_queries.h"

namespace tenon::journal::sqlite {

Result<AppendOutcomes, StoreError> SqliteStore::commit(std::span<const Append> appends) {
  if (auto writable = connection_.require_writable(); !writable) return failure(writable.error());
  if (auto done = connection_.maintain_if_overdue(); !done) return failure(done.error());
  AppendOutcomes outcomes;
  outcomes.reserve(appends.size());
  Transaction transaction(connection_.database());
  if (auto done = transaction.begin(Transaction::Kind::Write); !done) return failure(done.error());
  for (const Append& append : appends) {
    OfferedContents offered;
    for (const Content& content : append.contents) offered.emplace(content.hash, &content);
    auto applied = appender_.apply(append, offered);
    if (!applied) return failure(applied.error());
    outcomes.push_back(*applied);
  }
  if (auto done = transaction.commit(); !done) return failure(done.error());
  appender_.forget_claims(appends, outcomes);
  return outcomes;
}

/// There is one owner, so every run is its own.
Result<ClaimOutcomes, StoreError> SqliteStore::claim(std::span<const RunName> runs, ClaimMode /*mode*/) {
  if (auto writable = connection_.require_writable(); !writable) return failure(writable.error());
  ClaimOutcomes outcomes;
  outcomes.reserve(runs.size());
  for (const RunName& run : runs) outcomes.push_back(claim_one(run));
  return outcomes;
}

Result<RunHead, StoreError> SqliteStore::claim_one(const RunName& run) {
  auto row = get_run(connection_, run);
  if (!row) return failure(row.error());
  if (!has_ended(row->head.summary.state)) row->head.epoch = appender_.claim(row->head);
  if (unclaimed_) unclaimed_->erase(run.text);
  return std::move(row->head);
}

Result<std::vector<RunName>, StoreError> SqliteStore::take_unclaimed(std::size_t limit) {
  if (auto writable = connection_.require_writable(); !writable) return failure(writable.error());
  if (!unclaimed_) {
    const auto heads = SqliteQueries(connection_).list({.state = RunState::Running});
    if (!heads) return failure(heads.error());
    unclaimed_.emplace();
    for (const RunHead& head : *heads) unclaimed_->insert(head.run.text);
  }
  std::vector<RunName> runs;
  while (!unclaimed_->empty() && runs.size() < limit) {
    runs.push_back({std::move(unclaimed_->extract(unclaimed_->begin()).value())});
  }
  return runs;
}

Result<RunHead, StoreError> SqliteStore::head(const RunName& run) {
  auto row = find_run(connection_, run);
  if (!row) return failure(row.error());
  if (!*row) return failure(connection_.missing_run(run));
  return std::move((*row)->head);
}

Result<std::vector<Record>, StoreError> SqliteStore::read(const RunName& run, std::uint64_t after, std::size_t limit) {
  if (auto usable = connection_.require_usable(); !usable) return failure(usable.error());
  Transaction transaction(connection_.database());
  if (auto done = transaction.begin(Transaction::Kind::Read); !done) return failure(done.error());
  const auto row = get_run(connection_, run);
  if (!row) return failure(row.error());
  const auto problem = [&](std::uint64_t number, std::string_view what) {
    return failure(connection_.damaged_record(run, number, what));
  };
  std::vector<Record> records;
  std::uint64_t next = after + 1;
  std::optional<Hash> chain;  // after record next-1, once that is known
  if (after == 0) chain = chain_start(run);
  while (after < row->head.records && next <= row->head.records && records.size() < limit) {
    const auto batches = read_batches(connection_, *row, next);
    if (!batches) return failure(batches.error());
    const std::uint64_t requested = next;
    for (const BatchRow& batch : *batches) {
      if (chain && *chain != batch.chain_before) return problem(batch.first, "the chain is interrupted here");
      const auto decoded = batches_.decode(batch.chain_before, batch.bytes);
      if (!decoded) return problem(batch.first + decoded.error().record, decoded.error().what);
      const Batch& found = **decoded;
      if (found.records.size() != batch.count)
        return problem(batch.first, "the number of records differs from its row");
      for (std::size_t at = next - batch.first; at < found.records.size() && records.size() < limit; ++at) {
        records.push_back({batch.first + at, std::string(found.records[at])});
        ++next;
      }
      chain = found.chain;
      if (batch.first + batch.count <= row->head.records) {
        if (records.size() == limit) return records;
        continue;
      }
      if (batch.first + batch.count != row->head.records + 1)
        return problem(row->head.records, "there are more records than the run's head says");
      if (*chain != row->head.chain) return problem(row->head.records, "the chain differs from the run's head");
    }
    if (next == requested) return problem(next, "it is missing");
  }
  return records;
}

Result<std::optional<Note>, StoreError> SqliteStore::find_note(std::string_view key) {
  if (auto usable = connection_.require_usable(); !usable) return failure(usable.error());
  Execution query(connection_.statements().select_note);
  const StepResult step = query.text(key).step();
  if (step == StepResult::Failed) return failure(query.error());
  if (step == StepResult::Done) return std::optional<Note>{};
  return std::optional<Note>(
      Note{std::string(query.get_bytes(0)), std::string(query.get_bytes(1)), query.find_integer(2)});
}

Result<std::optional<Snapshot>, StoreError> SqliteStore::snapshot(const RunName& run) {
  if (auto usable = connection_.require_usable(); !usable) return failure(usable.error());
  Transaction transaction(connection_.database());
  if (auto done = transaction.begin(Transaction::Kind::Read); !done) return failure(done.error());
  const auto row = get_run(connection_, run);
  if (!row) return failure(row.error());
  Execution query(connection_.statements().select_snapshot);
  const StepResult step = query.integer(row->id).step();
  if (step == StepResult::Failed) return failure(query.error());
  if (step == StepResult::Done) return std::optional<Snapshot>{};
  Snapshot snapshot{query.get_unsigned(0), std::string(query.get_bytes(2))};
  const auto hash = Hash::from_bytes(query.get_bytes(1));
  if (!hash || *hash != sha256(snapshot.bytes) || snapshot.after > row->head.records)
    return failure(
        damaged(fmt::format("{}: run {}: its snapshot after record {} is damaged; `compact` removes it, "
                            "and the records say the same",
                            connection_.name(), run.text, snapshot.after)));
  return std::optional<Snapshot>(std::move(snapshot));
}

Result<std::int64_t, StoreError> SqliteStore::find_run_id(const RunName& run) {
  if (run_id_.first != run.text) {
    const auto row = get_run(connection_, run);
    if (!row) return failure(row.error());
    run_id_ = {run.text, row->id};
  }
  return run_id_.second;
}

Result<std::string, StoreError> SqliteStore::content(const RunName& run, const Hash& hash) {
  if (auto usable = connection_.require_usable(); !usable) return failure(usable.error());
  Transaction transaction(connection_.database());
  if (auto done = transaction.begin(Transaction::Kind::Read); !done) return failure(done.error());
  const auto id = find_run_id(run);
  if (!id) return failure(id.error());
  auto body = Contents(connection_).read(*id, hash);
  if (!body) return failure(body.error());
  return std::move(body->bytes);
}

}  // namespace tenon::journal::sqlite
