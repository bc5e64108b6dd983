#include "journal/sqlite/append.h"

#include <fmt/format.h>

#include "base/ensure.h"
#include "journal/batch.h"
#include "journal/sqlite/notes.h"
#include "journal/sqlite/run_rows.h"

namespace tenon::journal::sqlite {
std::uint64_t Appender::claim(const RunHead& head) {
  return ++claimed_.try_emplace(head.run.text, head.epoch).first->second;
}

void Appender::forget_claims(std::span<const Append> appends, const AppendOutcomes& outcomes) {
  for (std::size_t at = 0; at < appends.size() && !claimed_.empty(); ++at)
    if (!outcomes[at]) claimed_.erase(appends[at].run.text);
}

Result<std::optional<AppendRefusal>, StoreError> Appender::find_refusal(const Append& append,
                                                                        const std::optional<RunRow>& run) const {
  const std::uint64_t records_after = append.first - 1 + append.records.size();
  if (run) {
    const RunHead& head = run->head;
    if (head.summary.state == RunState::Forgotten) return AppendRefusal::UnknownRun;
    const auto claimed = claimed_.find(append.run.text);
    if (append.epoch != (claimed == claimed_.end() ? head.epoch : claimed->second)) return AppendRefusal::OldEpoch;
    if (head.records + 1 != append.first) return AppendRefusal::WrongNumber;
  } else if (append.first != 1) {
    return AppendRefusal::UnknownRun;
  }
  if (append.snapshot && append.snapshot->after > records_after) return AppendRefusal::WrongNumber;
  return std::optional<AppendRefusal>{};
}

Result<std::optional<AppendRefusal>, StoreError> Appender::apply(const Append& append, const OfferedContents& offered) {
  ENSURE(!append.moves_to);  // there is no other owner
  if (is_too_large(append)) return AppendRefusal::TooLarge;
  if (append.first == 0) return AppendRefusal::WrongNumber;
  auto found = find_run(connection_, append.run);
  if (!found) return failure(found.error());
  if (auto refusal = find_refusal(append, *found); !refusal || *refusal) return refusal;
  const auto has_note = has_older_note(append);
  if (!has_note) return failure(has_note.error());
  if (*has_note) return AppendRefusal::NoteExists;
  std::vector<const Content*> contents;
  if (auto refusal = contents_.find_new(append, offered, *found ? &**found : nullptr, contents); !refusal || *refusal)
    return refusal;

  auto run = *found ? Result<RunRow, StoreError>(std::move(**found)) : insert_run(append);
  if (!run) return failure(run.error());
  if (auto done = contents_.write(*run, contents); !done) return failure(done.error());
  if (auto done = write_batch(append, *run); !done) return failure(done.error());
  if (auto done = write_notes(append); !done) return failure(done.error());

  // Unchanged columns are not written, so that their indexes are not touched. What a damaged row contains is not known.
  Statements& statements = connection_.statements();
  const RunSummary& summary = append.summary;
  const RunSummary& before = run->head.summary;
  if (run->is_damaged || before.state != summary.state || before.wake_at != summary.wake_at)
    if (auto done = Execution(statements.update_state)
                        .integer(run->id)
                        .integer(static_cast<std::int64_t>(summary.state))
                        .optional(summary.wake_at)
                        .finish();
        !done)
      return failure(done.error());
  if (run->is_damaged || before.title != summary.title || before.detail != summary.detail)
    if (auto done =
            Execution(statements.update_texts).integer(run->id).text(summary.title).text(summary.detail).finish();
        !done)
      return failure(done.error());
  if (append.snapshot)
    if (auto done = write_snapshot(*append.snapshot, run->id); !done) return failure(done.error());
  return std::optional<AppendRefusal>{};
}

Result<RunRow, StoreError> Appender::insert_run(const Append& append) {
  ENSURE(is_run_name(append.run.text));
  const RunSummary& summary = append.summary;
  RunRow run;
  run.head.run = append.run;
  run.head.created_at = summary.updated_at;
  run.head.chain = chain_start(append.run);
  run.head.summary = summary;
  auto done = Execution(connection_.statements().insert_run)
                  .text(append.run.text)
                  .integer(append.epoch)
                  .blob(run.head.chain.view())
                  .integer(summary.updated_at)
                  .integer(static_cast<std::int64_t>(summary.state))
                  .optional(summary.wake_at)
                  .text(summary.title)
                  .text(summary.detail)
                  .finish();
  if (!done) return failure(done.error());
  run.id = connection_.database().last_row();
  if (run.id > run_ids_max)
    return failure(StoreError{StoreError::Kind::TooLarge, fmt::format("{}: the store has had {} runs (run_ids_max)",
                                                                      connection_.name(), run_ids_max)});
  return run;
}

Result<bool, StoreError> Appender::has_older_note(const Append& append) {
  for (const Note& note : append.notes) {
    if (note.use == NoteUse::Replace) continue;
    const auto exists = has_note(connection_, note.key, append.summary.updated_at);
    if (!exists || *exists) return exists;
  }
  return false;
}

Result<void, StoreError> Appender::write_notes(const Append& append) {
  if (append.notes.empty()) return {};
  Statements& statements = connection_.statements();
  if (auto done = Execution(statements.drop_expired_notes).integer(append.summary.updated_at).finish(); !done)
    return done;
  for (const Note& note : append.notes) {
    auto done = Execution(statements.replace_note).text(note.key).blob(note.bytes).optional(note.expires_at).finish();
    if (!done) return done;
  }
  return {};
}

Result<void, StoreError> Appender::write_batch(const Append& append, const RunRow& run) {
  Statements& statements = connection_.statements();
  Hash chain = run.head.chain;
  std::int64_t last_batch = run.last_batch;
  if (!append.records.empty() || !append.references.empty()) {
    const EncodedBatch batch = encode_batch(chain, append.records, append.references);
    const std::uint64_t count = append.records.size();
    if (auto done = Execution(statements.insert_batch)
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
    last_batch = connection_.database().last_row();
  }
  RunRow after;
  after.id = run.id;
  after.last_batch = last_batch;
  after.head = {append.run,     append.epoch, append.first - 1 + append.records.size(), chain, run.head.created_at,
                append.summary, false};
  return Execution(statements.update_head)
      .integer(after.id)
      .integer(after.head.records)
      .blob(chain.view())
      .integer(last_batch)
      .integer(append.summary.updated_at)
      .integer(append.epoch)
      .integer(checksum_of(after))
      .finish();
}

Result<void, StoreError> Appender::write_snapshot(const Snapshot& snapshot, std::int64_t run) {
  const Hash hash = sha256(snapshot.bytes);
  return Execution(connection_.statements().replace_snapshot)
      .integer(run)
      .integer(snapshot.after)
      .blob(hash.view())
      .blob(snapshot.bytes)
      .finish();
}

}  // namespace tenon::journal::sqlite
