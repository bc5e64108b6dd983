// Notes that belong to no run.
#include <fmt/format.h>

#include "journal/sqlite/sqlite_admin.h"

namespace tenon::journal::sqlite {

Result<void, StoreError> SqliteAdmin::keep_note(const Note& note) {
  if (auto writable = connection_.require_writable(); !writable) return failure(writable.error());
  if (note.key.size() + note.bytes.size() > append_bytes_max)
    return failure(StoreError{StoreError::Kind::TooLarge,
                              fmt::format("{}: a note has more than {} bytes", connection_.path(), append_bytes_max)});
  Transaction transaction(connection_.database());
  if (auto done = transaction.begin(Transaction::Kind::Write); !done) return done;
  auto done = Execution(connection_.statements().replace_note)
                  .text(note.key)
                  .blob(note.bytes)
                  .optional(note.expires_at)
                  .finish();
  if (!done) return done;
  return transaction.commit();
}

}  // namespace tenon::journal::sqlite
