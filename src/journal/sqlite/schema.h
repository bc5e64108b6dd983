#pragma once

#include <cstdint>

#include "base/result.h"
#include "journal/sqlite/database.h"

namespace tenon::journal::sqlite {

/// The store's file is an SQLite database whose header says so: "Tenn" as the application, the format as the version.
inline constexpr std::int32_t store_application_id = 0x54656e6e;
inline constexpr std::int64_t store_format = 2;

/// Makes the tables of a database that is empty, brings one of an older format to this one, and refuses one that is no
/// store or of a newer format. `Missing`: a reader found an empty file; `OldFormat`: a reader found an older store.
[[nodiscard]] Result<void, StoreError> prepare_schema(Database& database, Access access);

}  // namespace tenon::journal::sqlite
