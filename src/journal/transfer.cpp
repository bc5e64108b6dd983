// Runs leave the store as files and come back.
#include <fmt/format.h>

#include <unordered_set>

#include "base/utf8.h"
#include "journal/batch.h"
#include "journal/run_file.h"
#include "journal/sqlite_store.h"

namespace tenon::journal {

Result<std::string, StoreError> SqliteStore::export_run(const RunName& run) {
  if (database_->broken()) return failure(*database_->broken());
  Transaction transaction(*database_);
  if (auto done = transaction.begin(Transaction::Kind::Read); !done) return failure(done.error());
  auto row = get_run(run);
  if (!row) return failure(row.error());
  RunFile file;
  file.head = row->head;
  // For people, and text everywhere else: a file with other bytes would not be taken in again.
  file.head.summary.title = replace_invalid_utf8(std::move(file.head.summary.title));
  file.head.summary.detail = replace_invalid_utf8(std::move(file.head.summary.detail));
  Hash chain = chain_start(run);
  std::vector<Hash> open;
  // Not by milestones: batches behind the last record count as well.
  std::vector<std::int64_t> ids;
  for (std::int64_t id = row->last_batch; id != 0;) {
    Execution query(statements_.select_batch);
    const StepResult step = query.integer(id).step();
    if (step == StepResult::Failed) return failure(query.error());
    const std::int64_t previous = step == StepResult::Row ? query.get_integer(4) : 0;
    if (step == StepResult::Done || query.get_integer(1) != row->id || previous >= id)
      return failure(
          damaged(fmt::format("{}: run {}: row {} of `batches` is missing", database_->path(), run.text, id)));
    ids.push_back(id);
    id = previous;
  }
  std::uint64_t records = 0;
  for (auto id = ids.rbegin(); id != ids.rend(); ++id) {
    Execution query(statements_.select_batch);
    if (query.integer(*id).step() != StepResult::Row) return failure(query.error());
    const auto batch = decode_batch(chain, query.get_bytes(7));
    if (!batch) return failure(damaged_record(run, records + batch.error().record + 1, batch.error().what));
    records += batch->records.size();
    chain = batch->chain;
    open.insert(open.end(), batch->references.begin(), batch->references.end());
    file.batches.push_back({{batch->records.begin(), batch->records.end()}, batch->references});
  }
  if (chain != row->head.chain || records != row->head.records)
    return failure(damaged_record(run, row->head.records, "the records are not those of which the run's head tells"));
  std::unordered_set<Hash> seen;
  while (!open.empty()) {
    const Hash hash = open.back();
    open.pop_back();
    if (!seen.insert(hash).second) continue;
    auto body = read_content(row->id, hash);
    if (!body) return failure(body.error());
    open.insert(open.end(), body->refers.begin(), body->refers.end());
    file.contents.push_back({hash, std::move(body->bytes), std::move(body->refers)});
  }
  return encode_run_file(file);
}

Result<Imported, StoreError> SqliteStore::import_run(std::string_view bytes) {
  if (const auto refusal = refuse_writing()) return failure(*refusal);
  auto file = decode_run_file(bytes);
  if (!file) return failure(file.error());
  const RunHead& head = file->head;
  Transaction transaction(*database_);
  if (auto done = transaction.begin(Transaction::Kind::Write); !done) return failure(done.error());
  auto found = find_run(head.run);
  if (!found) return failure(found.error());
  if (*found) {
    const RunHead& present = (*found)->head;
    const bool is_forgotten = present.summary.state == RunState::Forgotten;
    if (!is_forgotten && present.records == head.records && present.chain == head.chain)
      return Imported{head.run, ImportOutcome::AlreadyThere};
    return failure(StoreError{
        StoreError::Kind::Conflict,
        is_forgotten
            ? fmt::format("{}: run {} was forgotten here, and stays so", database_->path(), head.run.text)
            : fmt::format("{}: there is a run {} already, with {} records where the file has {}, and another chain; "
                          "import into another store",
                          database_->path(), head.run.text, present.records, head.records)});
  }
  Brought brought;
  for (const Content& content : file->contents) brought.emplace(content.hash, &content);
  Append append;
  append.run = head.run;
  append.epoch = head.epoch;
  append.summary = head.summary;
  append.summary.updated_at = head.created_at;  // the first one makes the run
  const auto apply_next = [&]() -> Result<void, StoreError> {
    const auto refusal = apply(append, brought);
    if (!refusal) return failure(refusal.error());
    if (*refusal)
      return failure(
          StoreError{StoreError::Kind::TooLarge,
                     fmt::format("{}: run {}: the records from {} on have more than {} bytes (append_bytes_max)",
                                 database_->path(), head.run.text, append.first, append_bytes_max)});
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

}  // namespace tenon::journal
