// How one append becomes rows: everything that could refuse it is looked at before the first row is written.
#include <fmt/format.h>

#include "base/ensure.h"
#include "journal/batch.h"
#include "journal/sqlite_store.h"

namespace tenon::journal {
namespace {

bool is_too_large(const Append& append) {
  std::size_t size = 0;
  for (const std::string& record : append.records) size += record.size();
  for (const Note& note : append.notes) size += note.key.size() + note.bytes.size();
  for (const Content& content : append.contents)
    if (content.bytes.size() > append_bytes_max || content.refers.size() > append_bytes_max / Hash::size) return true;
  if (append.snapshot && append.snapshot->bytes.size() > append_bytes_max) return true;
  return size > append_bytes_max || append.references.size() > append_bytes_max / Hash::size ||
         append.summary.title.size() + append.summary.detail.size() > append_bytes_max;
}

}  // namespace

Result<std::optional<AppendRefusal>, StoreError> SqliteStore::apply(const Append& append, const Brought& brought) {
  if (is_too_large(append)) return AppendRefusal::TooLarge;
  const std::uint64_t records_after = append.first - 1 + append.records.size();
  if (append.first == 0) return AppendRefusal::WrongNumber;
  auto found = find_run(append.run);
  if (!found) return failure(found.error());
  if (*found) {
    const RunHead& head = (*found)->head;
    if (head.summary.state == RunState::Forgotten) return AppendRefusal::UnknownRun;
    const auto claimed = claimed_.find(append.run.text);
    if (append.epoch != (claimed == claimed_.end() ? head.epoch : claimed->second)) return AppendRefusal::OldEpoch;
    if (head.records + 1 != append.first) return AppendRefusal::WrongNumber;
  } else if (append.first != 1) {
    return AppendRefusal::UnknownRun;
  }
  if (append.snapshot && append.snapshot->after > records_after) return AppendRefusal::WrongNumber;

  std::vector<const Content*> contents;
  if (auto refusal = find_new_contents(append, brought, *found ? &**found : nullptr, contents); !refusal || *refusal)
    return refusal;

  RunRow run;
  const RunSummary& summary = append.summary;
  if (*found) {
    run = std::move(**found);
  } else {
    ENSURE(is_run_name(append.run.text));
    run.head.run = append.run;
    run.head.chain = chain_start(append.run);
    if (auto done = Execution(statements_.insert_run)
                        .text(append.run.text)
                        .integer(append.epoch)
                        .blob(run.head.chain.view())
                        .integer(summary.updated_at)
                        .integer(static_cast<std::int64_t>(summary.state))
                        .optional(summary.wake_at)
                        .text(summary.title)
                        .text(summary.detail)
                        .finish();
        !done)
      return failure(done.error());
    run.id = database_->last_row();
    if (run.id > run_ids_max)
      return failure(StoreError{StoreError::Kind::TooLarge, fmt::format("{}: the store has had {} runs (run_ids_max)",
                                                                        database_->path(), run_ids_max)});
    run.head.summary = summary;
  }
  if (auto done = write_contents(run, contents); !done) return failure(done.error());
  if (auto done = write_batch(append, run); !done) return failure(done.error());
  if (auto done = write_notes(append); !done) return failure(done.error());

  // What did not change is not written: its indexes stay as they are.
  const RunSummary& before = run.head.summary;
  if (before.state != summary.state || before.wake_at != summary.wake_at)
    if (auto done = Execution(statements_.update_state)
                        .integer(run.id)
                        .integer(static_cast<std::int64_t>(summary.state))
                        .optional(summary.wake_at)
                        .finish();
        !done)
      return failure(done.error());
  if (before.title != summary.title || before.detail != summary.detail)
    if (auto done =
            Execution(statements_.update_texts).integer(run.id).text(summary.title).text(summary.detail).finish();
        !done)
      return failure(done.error());
  if (append.snapshot) {
    const Snapshot& snapshot = *append.snapshot;
    const Hash hash = sha256(snapshot.bytes);
    if (auto done = Execution(statements_.replace_snapshot)
                        .integer(run.id)
                        .integer(snapshot.after)
                        .blob(hash.view())
                        .blob(snapshot.bytes)
                        .finish();
        !done)
      return failure(done.error());
  }
  return std::optional<AppendRefusal>{};
}

Result<void, StoreError> SqliteStore::write_notes(const Append& append) {
  if (append.notes.empty()) return {};
  if (auto done = Execution(statements_.drop_expired_notes).integer(append.summary.updated_at).finish(); !done)
    return done;
  for (const Note& note : append.notes) {
    auto done = Execution(statements_.replace_note).text(note.key).blob(note.bytes).optional(note.expires_at).finish();
    if (!done) return done;
  }
  return {};
}

Result<void, StoreError> SqliteStore::write_batch(const Append& append, const RunRow& run) {
  Hash chain = run.head.chain;
  std::int64_t last_batch = run.last_batch;
  if (!append.records.empty() || !append.references.empty()) {
    const EncodedBatch batch = encode_batch(chain, append.records, append.references);
    const std::uint64_t count = append.records.size();
    if (auto done = Execution(statements_.insert_batch)
                        .integer(run.id)
                        .integer(append.first)
                        .integer(count)
                        .integer(last_batch)
                        .optional(milestone_of(append.first, count))
                        .blob(chain.view())
                        .blob(batch.bytes)
                        .finish();
        !done)
      return done;
    chain = batch.chain;
    last_batch = database_->last_row();
  }
  return Execution(statements_.update_head)
      .integer(run.id)
      .integer(append.first - 1 + append.records.size())
      .blob(chain.view())
      .integer(last_batch)
      .integer(append.summary.updated_at)
      .integer(append.epoch)
      .finish();
}

}  // namespace tenon::journal
