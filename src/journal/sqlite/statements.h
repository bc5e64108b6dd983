#pragma once

#include <algorithm>

#include "journal/sqlite/database.h"

namespace tenon::journal::sqlite {

/// The columns that `read_run_row` expects, in its order.
#define TENON_RUN_COLUMNS \
  "id, name, epoch, records, chain, last_batch, created_at, updated_at, state, wake_at, title, detail, checksum"

/// Of the run ?2, which waits until ?1, in the order of the runs that wait for a time.
#define TENON_DUE_PLACE "(?1, coalesce((SELECT id FROM runs WHERE name = ?2), 0))"

/// The store's SQL, except for schema changes and checks.
struct Statements {
  explicit Statements(Database& database)
      : select_run(database, "SELECT " TENON_RUN_COLUMNS " FROM runs WHERE name = ?1"),
        select_runs(database, "SELECT " TENON_RUN_COLUMNS " FROM runs WHERE name > ?1 ORDER BY name LIMIT ?2"),
        select_runs_of_state(
            database, "SELECT " TENON_RUN_COLUMNS " FROM runs WHERE state = ?1 AND name > ?2 ORDER BY name LIMIT ?3"),
        select_due(database, "SELECT wake_at, name FROM runs WHERE (wake_at, id) > " TENON_DUE_PLACE
                             " AND wake_at <= ?3 ORDER BY wake_at, id LIMIT ?4"),
        select_next_due(database, "SELECT wake_at FROM runs WHERE (wake_at, id) > " TENON_DUE_PLACE
                                  " AND wake_at IS NOT NULL ORDER BY wake_at, id LIMIT 1"),
        select_newest(database, "SELECT name FROM runs ORDER BY name DESC LIMIT 1"),
        count_runs(database, "SELECT state, count(*) FROM runs GROUP BY state"),
        count_commands(database, "SELECT count(*) FROM inbox WHERE reply IS NULL"),
        insert_run(
            database,
            "INSERT INTO runs(name, epoch, records, chain, last_batch, created_at, updated_at, state, wake_at, title, "
            "detail, checksum) VALUES(?1, ?2, 0, ?3, 0, ?4, ?4, ?5, ?6, ?7, ?8, 0)"),
        update_head(
            database,
            "UPDATE runs SET records = ?2, chain = ?3, last_batch = ?4, updated_at = ?5, epoch = ?6, checksum = ?7 "
            "WHERE id = ?1"),
        update_texts(database, "UPDATE runs SET title = ?2, detail = ?3 WHERE id = ?1"),
        update_state(database, "UPDATE runs SET state = ?2, wake_at = ?3 WHERE id = ?1"),
        insert_batch(database,
                     "INSERT INTO batches(run, first, count, previous, milestone, chain, bytes) "
                     "VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)"),
        select_batch(database,
                     "SELECT id, run, first, count, previous, milestone, chain, bytes FROM batches WHERE id = ?1"),
        select_milestone(database,
                         "SELECT id FROM batches WHERE run = ?1 AND milestone >= ?2 ORDER BY milestone LIMIT 1"),
        delete_batch(database, "DELETE FROM batches WHERE id = ?1"),
        select_content(database, "SELECT hash, refers, bytes FROM contents WHERE id = ?1"),
        select_content_hash(database, "SELECT hash FROM contents WHERE id = ?1"),  // reads no overflow page
        insert_content(database, "INSERT OR IGNORE INTO contents(id, hash, refers, bytes) VALUES(?1, ?2, ?3, ?4)"),
        select_links(database, "SELECT hash FROM contents WHERE id BETWEEN ?1 AND ?2 AND bytes IS NULL"),
        delete_contents(database, "DELETE FROM contents WHERE id BETWEEN ?1 AND ?2"),
        select_shared(database, "SELECT uses, body FROM shared_contents WHERE hash = ?1"),
        insert_shared(database, "INSERT INTO shared_contents(hash, uses, body) VALUES(?1, ?2, ?3)"),
        add_uses(database, "UPDATE shared_contents SET uses = uses + ?2 WHERE hash = ?1"),
        delete_shared(database, "DELETE FROM shared_contents WHERE hash = ?1"),
        select_body(database, "SELECT bytes FROM shared_bodies WHERE id = ?1"),
        insert_body(database, "INSERT INTO shared_bodies(bytes) VALUES(?1)"),
        delete_body(database, "DELETE FROM shared_bodies WHERE id = ?1"),
        select_snapshot(database, "SELECT after, hash, bytes FROM snapshots WHERE run = ?1"),
        replace_snapshot(database, "INSERT OR REPLACE INTO snapshots(run, after, hash, bytes) VALUES(?1, ?2, ?3, ?4)"),
        delete_snapshot(database, "DELETE FROM snapshots WHERE run = ?1"),
        select_note(database, "SELECT key, bytes, expires_at FROM notes WHERE key = ?1"),
        replace_note(database, "INSERT OR REPLACE INTO notes(key, bytes, expires_at) VALUES(?1, ?2, ?3)"),
        select_notes(database, "SELECT key, bytes, expires_at FROM notes WHERE key > ?1 ORDER BY key LIMIT ?2"),
        drop_expired_notes(database, "DELETE FROM notes WHERE expires_at <= ?1"),
        insert_command(database, "INSERT INTO inbox(run, bytes) VALUES(?1, ?2)"),
        select_commands(database, "SELECT id, run, bytes FROM inbox WHERE reply IS NULL ORDER BY id LIMIT ?1"),
        answer_command(database, "UPDATE inbox SET reply = ?2, bytes = x'' WHERE id = ?1 AND reply IS NULL"),
        drop_old_replies(
            database,
            "DELETE FROM inbox WHERE reply IS NOT NULL AND id < (SELECT id FROM inbox WHERE reply IS NOT NULL "
            "ORDER BY id DESC LIMIT 1 OFFSET ?1)"),
        select_reply(database, "SELECT reply FROM inbox WHERE id = ?1"),
        delete_command(database, "DELETE FROM inbox WHERE id = ?1"),
        withdraw_command(database, "DELETE FROM inbox WHERE id = ?1 AND reply IS NULL"),
        delete_commands_of_run(database, "DELETE FROM inbox WHERE run = ?1") {}

  Statement select_run, select_runs, select_runs_of_state, select_due, select_next_due, select_newest, count_runs,
      count_commands;
  Statement insert_run, update_head, update_texts, update_state;
  Statement insert_batch, select_batch, select_milestone, delete_batch;
  Statement select_content, select_content_hash, insert_content, select_links, delete_contents;
  Statement select_shared, insert_shared, add_uses, delete_shared, select_body, insert_body, delete_body;
  Statement select_snapshot, replace_snapshot, delete_snapshot;
  Statement select_note, replace_note, select_notes, drop_expired_notes;
  Statement insert_command, select_commands, answer_command, drop_old_replies, select_reply, delete_command,
      withdraw_command, delete_commands_of_run;
};

/// A row of `runs`.
struct RunRow {
  std::int64_t id = 0;
  std::int64_t last_batch = 0;  ///< 0: none
  RunHead head;
  std::optional<std::int64_t> checksum;  ///< as stored; none: read-only, of a format without checksums
  bool is_damaged = false;               ///< the row does not match its checksum
};

/// Over all columns of the row, so that a damaged summary is not believed. It is stored with the row.
[[nodiscard]] std::int64_t checksum_of(const RunRow& run);
/// Whether the row of `TENON_RUN_COLUMNS` matches its checksum; reads nothing out of it.
[[nodiscard]] bool is_intact_run_row(const Execution& row);

/// A row of `batches`, which has not been verified.
struct BatchRow {
  std::int64_t id = 0;
  std::int64_t run = 0;
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  std::int64_t previous = 0;  ///< the batch before it of the same run; 0: none
  std::optional<std::int64_t> milestone;
  Hash chain_before;
  std::string bytes;
};

/// A limit as SQLite takes it: a signed number.
[[nodiscard]] inline std::int64_t row_limit(std::size_t limit) {
  return static_cast<std::int64_t>(std::min<std::size_t>(limit, INT64_MAX));
}

/// Reads the columns TENON_RUN_COLUMNS as they are, even if they are not valid; an invalid state is `Running`, an
/// invalid chain zero.
[[nodiscard]] RunRow read_unverified_run_row(const Execution& row);
/// Reads the columns TENON_RUN_COLUMNS as they are, without comparing the checksum. `Damaged` if they have no valid
/// name or chain.
[[nodiscard]] Result<RunRow, StoreError> read_run_columns(const Database& database, const Execution& row);
/// Reads a row with the columns TENON_RUN_COLUMNS. If it does not match its checksum, its summary is that of a run that
/// has work to do: an owner then derives the row from the run's batches.
[[nodiscard]] Result<RunRow, StoreError> read_run_row(const Database& database, const Execution& row);
/// Reads a row with the columns of `select_batch`.
[[nodiscard]] Result<BatchRow, StoreError> read_batch_row(const Database& database, const Execution& row);

/// The ids of a run's rows in `contents`: the run's id is in their upper half.
struct ContentIds {
  explicit ContentIds(std::int64_t run) : first(run << 32), last(first | 0xFFFF'FFFF) {}
  /// Where the search for a content starts: the first four bytes of its hash, highest first, in the lower half.
  [[nodiscard]] std::int64_t place_of(const Hash& hash) const {
    std::int64_t lower = 0;
    for (std::size_t at = 0; at < 4; ++at) lower = lower << 8 | hash.bytes[at];
    return first | lower;
  }
  /// The next place to search, when another content is there; wraps around within the run.
  [[nodiscard]] std::int64_t next(std::int64_t place) const { return place == last ? first : place + 1; }
  std::int64_t first;
  std::int64_t last;
};
/// Maximum number of runs of one store, so that the ids of contents fit into 64 bits.
inline constexpr std::int64_t run_ids_max = INT32_MAX;

/// The hashes of the contents that a content refers to, one after the other.
[[nodiscard]] std::string encode_hashes(const std::vector<Hash>& hashes);
[[nodiscard]] std::optional<std::vector<Hash>> decode_hashes(std::string_view bytes);

/// Records between two batches that can be found by their number; the others are reached from the next of them.
inline constexpr std::uint64_t milestone_records = 64;
/// The number of the last record of a batch that reaches or crosses a multiple of `milestone_records`.
[[nodiscard]] std::optional<std::int64_t> milestone_of(std::uint64_t first, std::uint64_t count);

}  // namespace tenon::journal::sqlite
