#pragma once

#include "base/result.h"
#include "journal/sqlite/database.h"

namespace tenon::journal::sqlite {

/// Within a transaction in which format 1's tables are named `contents_1` and `bodies_1`: gives each run rows of its
/// own for all that its records refer to, directly or through other contents. A run that is damaged keeps what can be
/// found; reading and checking still report the rest.
[[nodiscard]] Result<void, StoreError> take_contents_of_format_1(Database& database);

}  // namespace tenon::journal::sqlite
