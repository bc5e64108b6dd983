#pragma once

#include <cstdint>

#include "base/result.h"
#include "journal/sqlite/database.h"

namespace tenon::journal::sqlite {

/// The store's file is an SQLite database whose header says so: "Tenn" as the application, the format as the version.
inline constexpr std::int32_t store_application_id = 0x54656e6e;
inline constexpr std::int64_t store_format = 3;

/// Creates the tables in an empty database, upgrades an older format, and refuses a newer one or a file that is not a
/// store. For a reader an empty database is a store without runs, as long as its connection is open; `OldFormat`: a
/// reader found an older store.
[[nodiscard]] Result<void, StoreError> prepare_schema(Database& database, Access access);

/// Lets a reader read a store of format 2 as it is, where it cannot be upgraded.
[[nodiscard]] Result<void, StoreError> read_format_2(Database& database);

}  // namespace tenon::journal::sqlite
