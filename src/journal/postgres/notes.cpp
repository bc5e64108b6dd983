// Notes that belong to no run.
#include <fmt/format.h>

#include "journal/postgres/postgres_admin.h"

namespace tenon::journal::postgres {
namespace {

const Statement keep_replacing{R"sql(
  INSERT INTO notes(key, bytes, expires_at) VALUES ($1::bytea, $2::bytea, $3::bigint)
  ON CONFLICT (key) DO UPDATE SET bytes = excluded.bytes, expires_at = excluded.expires_at)sql"};
const Statement keep_first{R"sql(
  INSERT INTO notes AS old (key, bytes, expires_at) VALUES ($1::bytea, $2::bytea, $3::bigint)
  ON CONFLICT (key) DO UPDATE SET bytes = excluded.bytes, expires_at = excluded.expires_at
  WHERE old.expires_at <= $4::bigint RETURNING 1)sql"};
const Statement select_notes{
    "SELECT key, bytes, expires_at FROM notes WHERE key > $1::bytea ORDER BY key LIMIT $2::bigint"};

}  // namespace

Result<void, StoreError> PostgresAdmin::keep_note(const Note& note, std::int64_t now_ms) {
  if (auto writable = connection_.require_writable(); !writable) return writable;
  if (note.key.size() > note_key_bytes_max || note.bytes.size() > append_bytes_max)
    return failure(StoreError{StoreError::Kind::TooLarge,
                              fmt::format("{}: a note's key has more than {} bytes, or the note more than {}",
                                          connection_.name(), note_key_bytes_max, append_bytes_max)});
  Parameters given;
  given.bytes(note.key).bytes(note.bytes).optional(note.expires_at);
  if (note.use == NoteUse::Replace) {
    const auto kept = connection_.link().query(keep_replacing, given);
    return kept ? Result<void, StoreError>() : failure(kept.error());
  }
  // Not repeated when the connection is lost: this note itself would be the older one.
  const auto session = connection_.link().get();
  if (!session) return failure(session.error());
  const auto kept = (*session)->run(keep_first, given.integer(now_ms));
  if (!kept) return failure(error(kept.error()));
  if (kept->size() == 1) return {};
  return failure(
      StoreError{StoreError::Kind::Conflict, fmt::format("{}: there is a note `{}`", connection_.name(), note.key)});
}

Result<std::vector<Note>, StoreError> PostgresAdmin::list_notes(std::string_view after, std::size_t limit) {
  const auto rows = connection_.link().query(select_notes, Parameters().bytes(after).integer(row_limit(limit)));
  if (!rows) return failure(rows.error());
  std::vector<Note> notes;
  for (std::size_t row = 0; row < rows->size(); ++row)
    notes.push_back({rows->get_text(row, 0), rows->get_text(row, 1), rows->find_integer(row, 2)});
  return notes;
}

}  // namespace tenon::journal::postgres
