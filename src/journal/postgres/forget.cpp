// Removing runs permanently.
#include <fmt/format.h>

#include <array>

#include "journal/postgres/owner_rows.h"
#include "journal/postgres/postgres_admin.h"
#include "journal/postgres/stored_batches.h"
#include "journal/postgres/stored_contents.h"

namespace tenon::journal::postgres {
namespace {

const Statement lock_run_to_forget{"SELECT " TENON_HEAD_COLUMNS R"sql(,
    (SELECT o.label FROM owners AS o WHERE o.id = r.owner AND o.dead_at IS NULL)
  FROM runs AS r WHERE r.name = $1::text FOR UPDATE OF r)sql"};
const Statement delete_contents{R"sql(
  WITH removed AS (DELETE FROM contents WHERE run = $1::bigint RETURNING hash, bytes IS NULL AS is_shared)
  DELETE FROM shared_bodies AS s USING removed
  WHERE removed.is_shared AND s.hash = removed.hash
    AND NOT EXISTS (SELECT FROM contents AS c WHERE c.bytes IS NULL AND c.hash = s.hash AND c.run <> $1::bigint))sql"};
const Statement delete_batches{"DELETE FROM batches WHERE run = $1::bigint"};
const Statement delete_snapshot{"DELETE FROM snapshots WHERE run = $1::bigint"};
const Statement delete_commands{"DELETE FROM inbox WHERE run = $1::text"};
const Statement leave_tombstone{R"sql(
  UPDATE runs SET owner = NULL, appends = $2::bigint, updated_at = $3::bigint, wake_at = NULL, state = $4::bigint,
                  checksum = $5::bigint, title = '', detail = ''
  WHERE id = $1::bigint)sql"};

constexpr int forget_attempts_max = 5;

/// What the removed rows have occupied is used again by these tables. It takes as long as the tables are large, and is
/// done by the server itself at some time.
constexpr const char* vacuum_tables = "SET statement_timeout = '60s'; SET lock_timeout = '1s'";
constexpr std::array<const char*, 5> vacuumed = {"VACUUM batches", "VACUUM contents", "VACUUM shared_bodies",
                                                 "VACUUM snapshots", "VACUUM inbox"};

}  // namespace

Result<void, StoreError> PostgresAdmin::forget(const RunName& run, std::int64_t now_ms) {
  if (auto writable = connection_.require_writable(); !writable) return writable;
  store_.forget_known();
  auto session = connection_.link().get();
  // It may meet another transaction in a deadlock, and lose its session: what is forgotten stays so.
  for (int attempts = 1;; ++attempts) {
    if (!session) return failure(session.error());
    auto done = forget(**session, run, now_ms);
    if (done) break;
    if (done.error().kind != StoreError::Kind::Unavailable || attempts == forget_attempts_max) return done;
    session = connection_.link().get();
  }
  static_cast<void>((*session)->execute(vacuum_tables));
  for (const char* const statement : vacuumed) static_cast<void>((*session)->execute(statement));
  static_cast<void>((*session)->execute("SET statement_timeout = 0; SET lock_timeout = 0"));
  return {};
}

Result<void, StoreError> PostgresAdmin::forget(Session& session, const RunName& run, std::int64_t now_ms) {
  Transaction transaction(session);
  if (auto begun = transaction.begin(Transaction::Kind::Write); !begun) return failure(error(begun.error()));
  const auto rows = session.run(lock_run_to_forget, Parameters().bytes(run.text));
  if (!rows) return failure(error(rows.error()));
  if (rows->size() == 0) return failure(connection_.missing_run(run));
  RunRow row = read_run_row(*rows, 0);
  if (row.head.summary.state == RunState::Forgotten) return {};
  const auto owner = rows->find_bytes(0, run_column_count);
  // One that has ended needs no owner any more, also while the process that performed it lives.
  if (owner && row.owner != connection_.owner() && !has_ended(row.head.summary.state))
    return failure(StoreError{StoreError::Kind::Owned,
                              fmt::format("{}: run {}: {} continues it; cancel it first, or end that process",
                                          connection_.name(), run.text, *owner)});
  BatchCheck batches(run);
  std::optional<BatchesProblem> problem;
  const auto read = visit_batches(session, row.id, [&](const BatchRow& stored) {
    const auto batch = batches.next(stored);
    if (!batch) problem = batch.error();
    return batch.has_value();
  });
  if (!read) return failure(error(read.error()));
  if (!problem) problem = batches.finish(row.head);
  if (problem) return failure(connection_.damaged_record(run, problem->record, problem->what));

  row.owner = 0;
  ++row.appends;
  row.head.summary = {};
  row.head.summary.state = RunState::Forgotten;
  row.head.summary.updated_at = now_ms;
  Parameters number, id, name, tombstone;
  number.integer(connection_.number());
  id.integer(row.id);
  name.bytes(run.text);
  tombstone.integer(row.id).integer(row.appends).integer(now_ms);
  tombstone.integer(static_cast<std::int64_t>(RunState::Forgotten)).integer(checksum_of(row));
  const std::array<Call, 6> calls = {
      Call{&lock_to_remove_bodies, &number}, Call{&delete_contents, &id},   Call{&delete_batches, &id},
      Call{&delete_snapshot, &id},           Call{&delete_commands, &name}, Call{&leave_tombstone, &tombstone}};
  if (const auto done = session.run(calls); !done) return failure(error(done.error()));
  if (auto done = transaction.commit(); !done) return failure(error(done.error()));
  return {};
}

Result<void, StoreError> PostgresAdmin::compact() {
  if (auto writable = connection_.require_writable(); !writable) return writable;
  const auto session = connection_.link().get();
  if (!session) return failure(session.error());
  const auto owners = list_owners(**session);
  if (!owners) return failure(error(owners.error()));
  for (const Owner& owner : *owners)
    if (owner.id.number != static_cast<std::uint64_t>(connection_.owner()))
      return failure(StoreError{
          StoreError::Kind::InUse,
          fmt::format("{}: {} uses the store; end it first: while the tables are rewritten, no process can use them",
                      connection_.name(), owner.label)});
  auto done = (*session)->execute("TRUNCATE snapshots");
  for (const char* const table : {"runs", "batches", "contents", "shared_bodies", "snapshots", "inbox", "notes"})
    if (done) done = (*session)->execute(fmt::format("VACUUM FULL {}", table));
  if (!done) return failure(error(done.error()));
  return {};
}

}  // namespace tenon::journal::postgres
