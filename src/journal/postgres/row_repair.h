#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "journal/postgres/connection.h"
#include "journal/postgres/run_rows.h"

/// Rows of `runs` that do not match their checksums. What a run's batches determine of its row is derived from them:
/// its id, its name if one character differs, the number of its records and of its appends, and the chain. If the
/// checksum matches then, all of the row is as it was. Otherwise its summary becomes that of a run that has work to do,
/// or of a forgotten one, and recovery writes the right one. A run that has batches is never taken for a forgotten one.
namespace tenon::journal::postgres {

struct DerivedRow {
  RunRow row;
  std::string problem;  ///< why nothing can be derived: the batches are damaged; empty: `row` is right
};

/// Reads the batches of a run whose row is damaged; `unverified` has its columns as they are.
[[nodiscard]] Result<DerivedRow, SessionError> derive_run_row(Session& session, const RunRow& unverified);

/// Repairs the rows with these ids that are damaged. Returns a sentence for each repair, and for each row that only a
/// person can repair.
[[nodiscard]] Result<std::vector<std::string>, StoreError> repair_rows(Connection& connection,
                                                                       const std::vector<std::int64_t>& ids);
/// The same for all runs.
[[nodiscard]] Result<std::vector<std::string>, StoreError> repair_all_rows(Connection& connection);

}  // namespace tenon::journal::postgres
