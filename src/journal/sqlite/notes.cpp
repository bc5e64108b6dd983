// Notes that belong to no run.
#include "journal/sqlite/notes.h"

#include <fmt/format.h>

#include "journal/sqlite/sqlite_admin.h"

namespace tenon::journal::sqlite {

namespace {

Note read_note(const Execution& row) {
  return {std::string(row.get_bytes(0)), std::string(row.get_bytes(1)), row.find_integer(2)};
}

}  // namespace

Result<bool, StoreError> has_note(Connection& connection, std::string_view key, std::int64_t now_ms) {
  Execution query(connection.statements().select_note);
  const StepResult step = query.text(key).step();
  if (step == StepResult::Failed) return failure(query.error());
  return step == StepResult::Row && query.find_integer(2).value_or(INT64_MAX) > now_ms;
}

Result<std::vector<Note>, StoreError> SqliteAdmin::list_notes(std::string_view after, std::size_t limit) {
  if (auto usable = connection_.require_usable(); !usable) return failure(usable.error());
  Execution query(connection_.statements().select_notes);
  query.text(after).integer(row_limit(limit));
  std::vector<Note> notes;
  while (true) {
    const StepResult step = query.step();
    if (step == StepResult::Done) return notes;
    if (step == StepResult::Failed) return failure(query.error());
    notes.push_back(read_note(query));
  }
}

Result<void, StoreError> SqliteAdmin::keep_note(const Note& note, std::int64_t now_ms) {
  if (auto writable = connection_.require_writable(); !writable) return failure(writable.error());
  if (note.key.size() > note_key_bytes_max || note.bytes.size() > append_bytes_max)
    return failure(StoreError{StoreError::Kind::TooLarge,
                              fmt::format("{}: a note's key has more than {} bytes, or the note more than {}",
                                          connection_.name(), note_key_bytes_max, append_bytes_max)});
  Transaction transaction(connection_.database());
  if (auto done = transaction.begin(Transaction::Kind::Write); !done) return done;
  if (note.use == NoteUse::KeepFirst) {
    const auto exists = has_note(connection_, note.key, now_ms);
    if (!exists) return failure(exists.error());
    if (*exists)
      return failure(StoreError{StoreError::Kind::Conflict,
                                fmt::format("{}: there is a note `{}`", connection_.name(), note.key)});
  }
  auto done = Execution(connection_.statements().replace_note)
                  .text(note.key)
                  .blob(note.bytes)
                  .optional(note.expires_at)
                  .finish();
  if (!done) return done;
  return transaction.commit();
}

}  // namespace tenon::journal::sqlite
