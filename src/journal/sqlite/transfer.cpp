// Exporting runs to files and importing them.
#include <fmt/format.h>

#include <unordered_set>

#include "base/counted.h"
#include "base/utf8.h"
#include "journal/batch.h"
#include "journal/run_file.h"
#include "journal/sqlite/append.h"
#include "journal/sqlite/run_rows.h"
#include "journal/sqlite/sqlite_admin.h"

namespace tenon::journal::sqlite {

Result<std::string, StoreError> SqliteAdmin::export_run(const RunName& run) {
  if (auto usable = connection_.require_usable(); !usable) return failure(usable.error());
  Transaction transaction(connection_.database());
  if (auto done = transaction.begin(Transaction::Kind::Read); !done) return failure(done.error());
  auto row = get_run(connection_, run);
  if (!row) return failure(row.error());
  RunFile file;
  file.head = row->head;
  // Shown to people, so invalid UTF-8 is replaced; a file with other bytes could not be imported.
  file.head.summary.title = replace_invalid_utf8(std::move(file.head.summary.title));
  file.head.summary.detail = replace_invalid_utf8(std::move(file.head.summary.detail));
  Hash chain = chain_start(run);
  std::vector<Hash> open;
  // Not by milestones: batches after the last record count as well.
  std::vector<std::int64_t> ids;
  for (std::int64_t id = row->last_batch; id != 0;) {
    Execution query(connection_.statements().select_batch);
    const StepResult step = query.integer(id).step();
    if (step == StepResult::Failed) return failure(query.error());
    const std::int64_t previous = step == StepResult::Row ? query.get_integer(4) : 0;
    if (step == StepResult::Done || query.get_integer(1) != row->id || previous >= id)
      return failure(
          damaged(fmt::format("{}: run {}: row {} of `batches` is missing", connection_.name(), run.text, id)));
    ids.push_back(id);
    id = previous;
  }
  std::uint64_t records = 0;
  for (auto id = ids.rbegin(); id != ids.rend(); ++id) {
    Execution query(connection_.statements().select_batch);
    if (query.integer(*id).step() != StepResult::Row) return failure(query.error());
    const auto batch = decode_batch(chain, query.get_bytes(7));
    if (!batch) return failure(connection_.damaged_record(run, records + batch.error().record + 1, batch.error().what));
    records += batch->records.size();
    chain = batch->chain;
    open.insert(open.end(), batch->references.begin(), batch->references.end());
    file.batches.push_back({{batch->records.begin(), batch->records.end()}, batch->references});
  }
  if (chain != row->head.chain || records != row->head.records)
    return failure(connection_.damaged_record(run, row->head.records, "the records differ from the run's head"));
  std::unordered_set<Hash> seen;
  while (!open.empty()) {
    const Hash hash = open.back();
    open.pop_back();
    if (!seen.insert(hash).second) continue;
    auto body = Contents(connection_).read(row->id, hash);
    if (!body) return failure(body.error());
    open.insert(open.end(), body->refers.begin(), body->refers.end());
    file.contents.push_back({hash, std::move(body->bytes), std::move(body->refers)});
  }
  return encode_run_file(file);
}

Result<Imported, StoreError> SqliteAdmin::import_run(std::string_view bytes) {
  if (auto writable = connection_.require_writable(); !writable) return failure(writable.error());
  auto file = decode_run_file(bytes);
  if (!file) return failure(file.error());
  const RunHead& head = file->head;
  Transaction transaction(connection_.database());
  if (auto done = transaction.begin(Transaction::Kind::Write); !done) return failure(done.error());
  auto found = find_run(connection_, head.run);
  if (!found) return failure(found.error());
  if (*found) return compare((*found)->head, head);
  OfferedContents offered;
  for (const Content& content : file->contents) offered.emplace(content.hash, &content);
  Appender appender(connection_);
  Append append;
  append.run = head.run;
  append.epoch = head.epoch;
  append.summary = head.summary;
  append.summary.updated_at = head.created_at;  // the first one makes the run
  const auto apply_next = [&]() -> Result<void, StoreError> {
    const auto refusal = appender.apply(append, offered);
    if (!refusal) return failure(refusal.error());
    if (*refusal)
      return failure(StoreError{
          StoreError::Kind::TooLarge,
          fmt::format("{}: run {}: the records from {} on are too large (maximum {} bytes, append_bytes_max)",
                      connection_.name(), head.run.text, append.first, append_bytes_max)});
    append.summary.updated_at = head.summary.updated_at;
    return {};
  };
  if (auto done = apply_next(); !done) return failure(done.error());
  for (RunFileBatch& batch : file->batches) {
    append.records = std::move(batch.records);
    append.references = std::move(batch.references);
    if (auto done = apply_next(); !done) return failure(done.error());
    append.first += append.records.size();
    append.records.clear();
    append.references.clear();
  }
  if (auto done = transaction.commit(); !done) return failure(done.error());
  return Imported{head.run, ImportOutcome::Imported};
}

Result<Imported, StoreError> SqliteAdmin::compare(const RunHead& present, const RunHead& given) const {
  const bool is_forgotten = present.summary.state == RunState::Forgotten;
  const bool is_to_be_forgotten = given.summary.state == RunState::Forgotten;
  if (is_forgotten == is_to_be_forgotten && present.records == given.records && present.chain == given.chain)
    return Imported{given.run, ImportOutcome::AlreadyThere};
  return failure(StoreError{
      StoreError::Kind::Conflict,
      is_forgotten && !is_to_be_forgotten
          ? fmt::format("{}: run {} was forgotten here and cannot be imported again", connection_.name(),
                        given.run.text)
          : fmt::format("{}: a different run {} exists already, with {} (the file has {}); import into "
                        "another store",
                        connection_.name(), given.run.text, counted(present.records, "record"), given.records)});
}

Result<Imported, StoreError> SqliteAdmin::import_forgotten(const RunHead& head) {
  if (auto writable = connection_.require_writable(); !writable) return failure(writable.error());
  Transaction transaction(connection_.database());
  if (auto done = transaction.begin(Transaction::Kind::Write); !done) return failure(done.error());
  const auto found = find_run(connection_, head.run);
  if (!found) return failure(found.error());
  if (*found) return compare((*found)->head, head);
  const auto state = static_cast<std::int64_t>(RunState::Forgotten);
  auto done = Execution(connection_.statements().insert_run)
                  .text(head.run.text)
                  .integer(head.epoch)
                  .blob(head.chain.view())
                  .integer(head.created_at)
                  .integer(state)
                  .optional(std::nullopt)
                  .text("")
                  .text("")
                  .finish();
  if (!done) return failure(done.error());
  RunRow row;
  row.id = connection_.database().last_row();
  row.head = head;
  row.head.summary = {};
  row.head.summary.state = RunState::Forgotten;
  row.head.summary.updated_at = head.summary.updated_at;
  done = Execution(connection_.statements().update_head)
             .integer(row.id)
             .integer(head.records)
             .blob(head.chain.view())
             .integer(row.last_batch)
             .integer(head.summary.updated_at)
             .integer(head.epoch)
             .integer(checksum_of(row))
             .finish();
  if (done) done = transaction.commit();
  if (!done) return failure(done.error());
  return Imported{head.run, ImportOutcome::Imported};
}

}  // namespace tenon::journal::sqlite
