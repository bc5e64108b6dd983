#pragma once

#include <string>
#include <vector>

#include "journal/sqlite/connection.h"

namespace tenon::journal::sqlite {

/// Reads each run's row once, as an owner that opens the store. A row whose checksum does not match is derived from the
/// run's batches. Where they do not restore all of it, it gets the state `Running`, so that the run is recovered and
/// its summary derived from its records. Indexes that contradict the rows are built again. Returns a sentence for each
/// repair, and for each row that only a person can repair.
[[nodiscard]] Result<std::vector<std::string>, StoreError> repair_run_rows(Connection& connection);

}  // namespace tenon::journal::sqlite
