// Removing runs permanently.
#include <fmt/format.h>

#include "journal/batch.h"
#include "journal/sqlite/contents.h"
#include "journal/sqlite/run_rows.h"
#include "journal/sqlite/sqlite_admin.h"

namespace tenon::journal::sqlite {

Result<void, StoreError> SqliteAdmin::forget(const RunName& run, std::int64_t now_ms) {
  if (auto writable = connection_.require_writable(); !writable) return failure(writable.error());
  // Deleted bytes are overwritten with zeros, also where whole pages become free.
  if (auto done = connection_.database().execute("PRAGMA secure_delete = ON"); !done) return done;
  Result<void, StoreError> result = forget_rows(run, now_ms);
  auto reset = connection_.database().execute("PRAGMA secure_delete = FAST");
  if (!result) return result;
  if (!reset) return reset;
  // The log still has the old pages.
  auto copied = connection_.database().checkpoint(Database::Checkpoint::Truncate);
  if (!copied && copied.error().kind == StoreError::Kind::Full) return {};
  return copied;
}

Result<void, StoreError> SqliteAdmin::forget_rows(const RunName& run, std::int64_t now_ms) {
  Transaction transaction(connection_.database());
  if (auto done = transaction.begin(Transaction::Kind::Write); !done) return done;
  auto found = find_run(connection_, run);
  if (!found) return failure(found.error());
  if (!*found) return failure(connection_.missing_run(run));
  const RunRow& row = **found;
  if (row.head.summary.state == RunState::Forgotten) return {};
  std::uint64_t next = row.head.records + 1;
  for (std::int64_t id = row.last_batch; id != 0;) {
    std::int64_t previous = 0;
    {
      Execution query(connection_.statements().select_batch);
      const StepResult step = query.integer(id).step();
      if (step == StepResult::Failed) return failure(query.error());
      if (step == StepResult::Done) return failure(connection_.damaged_record(run, next - 1, "it is missing"));
      const auto batch = read_batch_row(connection_.database(), query);
      if (!batch) return failure(batch.error());
      if (batch->run != row.id || batch->previous >= id || batch->first + batch->count != next)
        return failure(connection_.damaged_record(run, next - 1, "its row does not fit the run"));
      const auto decoded = decode_batch(batch->chain_before, batch->bytes);
      if (!decoded)
        return failure(connection_.damaged_record(run, batch->first + decoded.error().record, decoded.error().what));
      previous = batch->previous;
      next = batch->first;
    }
    if (auto done = Execution(connection_.statements().delete_batch).integer(id).finish(); !done) return done;
    id = previous;
  }
  if (next != 1) return failure(connection_.damaged_record(run, next - 1, "it is missing"));
  if (auto done = Contents(connection_).forget(row); !done) return done;
  if (auto done = Execution(connection_.statements().delete_snapshot).integer(row.id).finish(); !done) return done;
  if (auto done = Execution(connection_.statements().delete_commands_of_run).text(run.text).finish(); !done)
    return done;
  if (auto done = Execution(connection_.statements().update_texts).integer(row.id).text("").text("").finish(); !done)
    return done;
  if (auto done = Execution(connection_.statements().update_state)
                      .integer(row.id)
                      .integer(static_cast<std::int64_t>(RunState::Forgotten))
                      .optional(std::nullopt)
                      .finish();
      !done)
    return done;
  RunRow after = row;
  after.last_batch = 0;
  after.head.summary = {};
  after.head.summary.state = RunState::Forgotten;
  after.head.summary.updated_at = now_ms;
  if (auto done = Execution(connection_.statements().update_head)
                      .integer(after.id)
                      .integer(after.head.records)
                      .blob(after.head.chain.view())
                      .integer(after.last_batch)
                      .integer(now_ms)
                      .integer(after.head.epoch)
                      .integer(checksum_of(after))
                      .finish();
      !done)
    return done;
  return transaction.commit();
}

Result<void, StoreError> SqliteAdmin::compact() {
  if (auto writable = connection_.require_writable(); !writable) return failure(writable.error());
  if (auto done = connection_.database().execute("DELETE FROM snapshots"); !done) return done;
  if (auto done = connection_.database().execute("VACUUM"); !done) return done;
  return connection_.database().checkpoint(Database::Checkpoint::Truncate);
}

}  // namespace tenon::journal::sqlite
