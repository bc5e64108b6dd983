#pragma once

#include <string>

#include "base/result.h"
#include "journal/sqlite/statements.h"

namespace tenon::journal::sqlite {

/// A row of `runs` that does not match its checksum, as far as the run's batches determine it.
struct DerivedRow {
  /// With the id, name, number of records, chain and last batch that follow from the batches. If the checksum matches
  /// then, all of the row is as it was. Otherwise its summary is that of a run that has work to do, or of a forgotten
  /// one.
  RunRow row;
  std::string problem;  ///< why nothing can be derived: the batches are damaged; empty: `row` is right
};

/// `damaged` contains the columns as they are. Reads all ids of `batches`, and the run's batches. A run with batches is
/// never a forgotten one.
[[nodiscard]] Result<DerivedRow, StoreError> derive_run_row(Database& database, const RunRow& damaged);

}  // namespace tenon::journal::sqlite
