/* The minimum cost of resuming: opens a store's file with the same SQLite, reads the rows that a run is resumed from, and
 * prints their number. bare_reader STORE RUN */
#include <sqlite3.h>
#include <stdio.h>
#include <unistd.h>

static sqlite3* database;

static int read_rows(const char* sql, const char* run, long* bytes) {
  sqlite3_stmt* query;
  int rows = 0;
  if (sqlite3_prepare_v2(database, sql, -1, &query, NULL) != SQLITE_OK) return -1;
  sqlite3_bind_text(query, 1, run, -1, SQLITE_STATIC);
  while (sqlite3_step(query) == SQLITE_ROW) {
    ++rows;
    *bytes += sqlite3_column_bytes(query, 0);
  }
  return sqlite3_finalize(query) == SQLITE_OK ? rows : -1;
}

int main(int argc, char** argv) {
  long bytes = 0;
  int batches = -1, contents = -1;
  char line[64];
  int length;
  if (argc != 3 || sqlite3_open_v2(argv[1], &database, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK) return 1;
  batches = read_rows("SELECT bytes FROM batches WHERE run = (SELECT id FROM runs WHERE name = ?1) ORDER BY id", argv[2],
                      &bytes);
  /* The program. */
  contents = read_rows("SELECT bytes FROM shared_bodies WHERE length(bytes) > 1024 AND ?1 != '' LIMIT 1", argv[2], &bytes);
  if (batches < 0 || contents < 0) return 1;
  length = snprintf(line, sizeof line, "read %d %ld\n", batches + contents, bytes);
  return write(1, line, (size_t)length) == length ? 0 : 1;
}
