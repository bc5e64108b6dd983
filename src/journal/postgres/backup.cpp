// Copying the whole store into a file.
#include <fmt/format.h>

#include <optional>
#include <string>

#include "journal/complete_file.h"
#include "journal/copy_store.h"
#include "journal/postgres/postgres_admin.h"

namespace tenon::journal::postgres {
namespace {

constexpr std::int64_t copied_runs_per_read = 200;
constexpr std::int64_t copied_notes_per_read = 500;

const Statement select_runs_to_copy{"SELECT " TENON_HEAD_COLUMNS
                                    " FROM runs AS r WHERE r.name > $1::text ORDER BY r.name LIMIT $2::bigint"};
const Statement select_snapshot_to_copy{"SELECT after, hash, bytes FROM snapshots WHERE run = $1::bigint"};
const Statement select_notes_to_copy{
    "SELECT key, bytes, expires_at FROM notes WHERE key > $1::bytea ORDER BY key LIMIT $2::bigint"};

}  // namespace

Result<void, StoreError> PostgresAdmin::backup(const std::string& path) {
  return make_complete_file(path, [&](const std::string& partial) -> Result<void, StoreError> {
    // It becomes durable as a whole.
    auto file = open_store("sqlite:" + partial, {.durability = Durability::Process});
    if (!file) return failure(std::move(file.error()));
    return copy_to(**file);
  });
}

Result<void, StoreError> PostgresAdmin::copy_to(StoreConnection& file) {
  const auto session = connection_.link().get();
  if (!session) return failure(session.error());
  Transaction transaction(**session);
  if (auto begun = transaction.begin(Transaction::Kind::OneState); !begun) return failure(error(begun.error()));
  for (std::string last;;) {
    const auto rows = (*session)->run(select_runs_to_copy, Parameters().bytes(last).integer(copied_runs_per_read));
    if (!rows) return failure(error(rows.error()));
    for (std::size_t at = 0; at < rows->size(); ++at) {
      const RunRow row = read_run_row(*rows, at);
      last = row.head.run.text;
      if (auto done = copy_run(**session, row, file); !done) return done;
    }
    if (rows->size() < static_cast<std::size_t>(copied_runs_per_read)) break;
  }
  for (std::string last;;) {
    const auto rows = (*session)->run(select_notes_to_copy, Parameters().bytes(last).integer(copied_notes_per_read));
    if (!rows) return failure(error(rows.error()));
    for (std::size_t at = 0; at < rows->size(); ++at) {
      last = rows->get_text(at, 0);
      const Note note{last, rows->get_text(at, 1), rows->find_integer(at, 2)};
      if (auto done = file.admin().keep_note(note, 0); !done) return done;
    }
    if (rows->size() < static_cast<std::size_t>(copied_notes_per_read)) return {};
  }
}

Result<void, StoreError> PostgresAdmin::copy_run(Session& session, const RunRow& row, StoreConnection& file) {
  std::string exported;
  std::optional<Snapshot> snapshot;
  if (row.head.summary.state != RunState::Forgotten) {
    auto run = read_file(session, row.head.run);
    if (!run && run.error().kind == StoreError::Kind::Damaged)
      run.error().message += "; `tenon store copy` copies the other runs";
    if (!run) return failure(std::move(run.error()));
    exported = encode_run_file(*run);
  }
  if (!has_ended(row.head.summary.state)) {
    const auto found = session.run(select_snapshot_to_copy, Parameters().integer(row.id));
    if (!found) return failure(error(found.error()));
    // One that is damaged can be made again.
    if (found->size() == 1 && found->get_hash(0, 1) == sha256(found->get_bytes(0, 2)))
      snapshot = Snapshot{found->get_unsigned(0, 0), found->get_text(0, 2)};
  }
  const auto added = add_copied_run(file, row.head, exported, snapshot);
  return added ? Result<void, StoreError>() : failure(added.error());
}

}  // namespace tenon::journal::postgres
