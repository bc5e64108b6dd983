#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "journal/sqlite/connection.h"

/// Rows of `runs` and `batches`, as the store's interfaces read them.
namespace tenon::journal::sqlite {

[[nodiscard]] Result<std::optional<RunRow>, StoreError> find_run(Connection& connection, const RunName& run);
/// `Missing` for a run that does not exist or was forgotten.
[[nodiscard]] Result<RunRow, StoreError> get_run(Connection& connection, const RunName& run);

/// Returns the batches of a run from the one with record `from` on, up to the next milestone or the end, in order.
[[nodiscard]] Result<std::vector<BatchRow>, StoreError> read_batches(Connection& connection, const RunRow& run,
                                                                     std::uint64_t from);

}  // namespace tenon::journal::sqlite
