#pragma once

#include <cstdint>

#include "journal/postgres/rows.h"
#include "journal/postgres/session.h"
#include "journal/store.h"

namespace tenon::journal::postgres {

/// The columns that `read_run_row` expects, in its order, of a table that the statement names `r`.
#define TENON_HEAD_COLUMNS                                                                                          \
  "r.id, r.name, r.epoch, r.owner, r.records, r.appends, r.chain, r.created_at, r.updated_at, r.state, r.wake_at, " \
  "r.title, r.detail, r.checksum"
/// $1: a run's name.
inline const Statement select_run_row{"SELECT " TENON_HEAD_COLUMNS " FROM runs AS r WHERE r.name = $1::text"};
/// The number of those columns.
inline constexpr int run_column_count = 14;

/// A row of `runs`.
struct RunRow {
  std::int64_t id = 0;
  std::int64_t owner = 0;     ///< 0: none
  std::uint64_t appends = 0;  ///< how many there were
  std::int64_t checksum = 0;  ///< as it was read
  RunHead head;
};

/// Reads the columns TENON_HEAD_COLUMNS. A row that does not match its checksum is damaged, and its summary that of a
/// run that has work to do.
[[nodiscard]] RunRow read_run_row(const Rows& rows, std::size_t row, int first_column = 0);

/// The same, without comparing the checksum: the columns are as they are. A state that there is not is `Running`, and
/// the row damaged.
[[nodiscard]] RunRow read_unverified_run_row(const Rows& rows, std::size_t row, int first_column = 0);
/// Whether an unverified row is as it was written.
[[nodiscard]] bool is_intact(const RunRow& unverified);

/// Over all columns that only appends change, so that a damaged summary is not believed. It is stored with the row.
[[nodiscard]] std::int64_t checksum_of(const RunRow& run);

}  // namespace tenon::journal::postgres
