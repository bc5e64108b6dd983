#include "journal/sqlite/schema.h"

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "journal/sqlite/statements.h"
#include "journal/sqlite/upgrade.h"

namespace tenon::journal::sqlite {
namespace {

/// The part of the tables that format 1 had in another form.
constexpr const char* content_tables = R"sql(
CREATE TABLE contents(
  id INTEGER PRIMARY KEY,
  hash BLOB NOT NULL,
  refers BLOB NOT NULL,
  bytes BLOB
) STRICT;

CREATE TABLE shared_contents(
  hash BLOB NOT NULL PRIMARY KEY,
  uses INTEGER NOT NULL,
  body INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE shared_bodies(
  id INTEGER PRIMARY KEY,
  bytes BLOB NOT NULL
) STRICT;
)sql";

/// What each column means: docs/internals/journal.md. Numbers and names here are the format: a change is a new format.
constexpr const char* tables = R"sql(
CREATE TABLE runs(
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  epoch INTEGER NOT NULL,
  records INTEGER NOT NULL,
  chain BLOB NOT NULL,
  last_batch INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  state INTEGER NOT NULL,
  wake_at INTEGER,
  title TEXT NOT NULL,
  detail TEXT NOT NULL,
  checksum INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX runs_by_state ON runs(state, name);
CREATE INDEX runs_by_wake_at ON runs(wake_at) WHERE wake_at IS NOT NULL;

CREATE TABLE batches(
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL,
  first INTEGER NOT NULL,
  count INTEGER NOT NULL,
  previous INTEGER NOT NULL,
  milestone INTEGER,
  chain BLOB NOT NULL,
  bytes BLOB NOT NULL
) STRICT;
CREATE INDEX batches_by_milestone ON batches(run, milestone) WHERE milestone IS NOT NULL;

CREATE TABLE snapshots(
  run INTEGER PRIMARY KEY,
  after INTEGER NOT NULL,
  hash BLOB NOT NULL,
  bytes BLOB NOT NULL
) STRICT;

CREATE TABLE inbox(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  run TEXT NOT NULL,
  bytes BLOB NOT NULL,
  reply BLOB
) STRICT;
CREATE INDEX inbox_unanswered ON inbox(id) WHERE reply IS NULL;

CREATE TABLE notes(
  key TEXT NOT NULL PRIMARY KEY,
  bytes BLOB NOT NULL,
  expires_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX notes_by_expiry ON notes(expires_at) WHERE expires_at IS NOT NULL;
)sql";

Result<void, StoreError> make_tables(Database& database) {
  if (auto done = database.execute("PRAGMA journal_mode = WAL"); !done) return done;
  Transaction transaction(database);
  if (auto done = transaction.begin(Transaction::Kind::Write); !done) return done;
  if (auto done = database.execute(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {};{}{}",
                                               store_application_id, store_format, tables, content_tables));
      !done)
    return done;
  return transaction.commit();
}

/// For a reader of a file whose creation was cut off: the tables in its connection only, so that it reads a store
/// without runs, and leaves the file as it is.
Result<void, StoreError> make_temporary_tables(Database& database) {
  constexpr std::string_view beginning = "CREATE TABLE ";
  std::string statements = std::string(tables) + content_tables;
  for (std::size_t at = statements.find(beginning); at != std::string::npos; at = statements.find(beginning, at))
    statements.replace(at, beginning.size(), "CREATE TEMP TABLE ");
  return database.execute(statements);  // an index is where its table is
}

/// From format 1, in which contents were counted for the whole store: in one transaction, which a crash undoes.
Result<void, StoreError> upgrade_from_1(Database& database) {
  Transaction transaction(database);
  if (auto done = transaction.begin(Transaction::Kind::Write); !done) return done;
  if (auto done = database.execute(std::string("ALTER TABLE contents RENAME TO contents_1;"
                                               "ALTER TABLE bodies RENAME TO bodies_1;") +
                                   content_tables);
      !done)
    return done;
  if (auto done = take_contents_of_format_1(database); !done) return done;
  if (auto done = database.execute("DROP TABLE contents_1; DROP TABLE bodies_1; PRAGMA user_version = 2"); !done)
    return done;
  return transaction.commit();
}

/// From format 2, in which the rows of runs had no checksum: in one transaction, which a crash undoes.
Result<void, StoreError> upgrade_from_2(Database& database) {
  Transaction transaction(database);
  if (auto done = transaction.begin(Transaction::Kind::Write); !done) return done;
  if (auto done = database.execute("ALTER TABLE runs ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0"); !done)
    return done;
  {
    Statement select(database, "SELECT " TENON_RUN_COLUMNS " FROM runs");
    Statement update(database, "UPDATE runs SET checksum = ?2 WHERE id = ?1");
    Execution rows(select);
    for (StepResult step = rows.step(); step != StepResult::Done; step = rows.step()) {
      if (step == StepResult::Failed) return failure(rows.error());
      const auto row = read_run_columns(database, rows);
      if (!row) continue;  // it is reported whenever it is read
      if (auto done = Execution(update).integer(row->id).integer(checksum_of(*row)).finish(); !done) return done;
    }
  }
  if (auto done = database.execute(fmt::format("PRAGMA user_version = {}", store_format)); !done) return done;
  return transaction.commit();
}

}  // namespace

Result<void, StoreError> prepare_schema(Database& database, Access access) {
  const auto application = database.query_integer("PRAGMA application_id");
  if (!application) return failure(application.error());
  const auto format = database.query_integer("PRAGMA user_version");
  if (!format) return failure(format.error());
  const auto objects = database.query_integer("SELECT count(*) FROM sqlite_schema");
  if (!objects) return failure(objects.error());
  if (*application == 0 && *format == 0 && *objects == 0) {
    return access == Access::Owner ? make_tables(database) : make_temporary_tables(database);
  }
  if (*application != store_application_id)
    return failure(StoreError{StoreError::Kind::Format,
                              fmt::format("{}: this is a database of another program, not a store", database.name())});
  if (*format > store_format)
    return failure(
        StoreError{StoreError::Kind::Format,
                   fmt::format("{}: a newer Tenon wrote this store: its format is {}, and this Tenon reads up "
                               "to {}; use the newer one",
                               database.name(), *format, store_format)});
  if (*format < 1)
    return failure(
        StoreError{StoreError::Kind::Format,
                   fmt::format("{}: the store's format is {}, which no Tenon writes", database.name(), *format)});
  if (*format == store_format) return {};
  if (access == Access::Owner) {
    if (*format == 1)
      if (auto done = upgrade_from_1(database); !done) return done;
    return upgrade_from_2(database);
  }
  return failure(
      StoreError{StoreError::Kind::OldFormat,
                 fmt::format("{}: the store's format is {}; it is upgraded to {} when an owner opens the store",
                             database.name(), *format, store_format)});
}

Result<void, StoreError> read_format_2(Database& database) {
  const auto format = database.query_integer("PRAGMA user_version");
  if (!format) return failure(format.error());
  if (*format != 2)
    return failure(StoreError{StoreError::Kind::OldFormat,
                              fmt::format("{}: the store's format is {}, which has to be upgraded, and it cannot be "
                                          "written here; copy the store to a place where it can",
                                          database.name(), *format)});
  // A temporary view is found before the table of its name.
  return database.execute("CREATE TEMP VIEW runs AS SELECT *, NULL AS checksum FROM main.runs");
}

}  // namespace tenon::journal::sqlite
