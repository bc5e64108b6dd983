#pragma once

#include <cstdint>
#include <string_view>

#include "journal/sqlite/connection.h"

namespace tenon::journal::sqlite {

/// Whether there is a note with this key that has not expired at this time, in milliseconds since 1970.
[[nodiscard]] Result<bool, StoreError> has_note(Connection& connection, std::string_view key, std::int64_t now_ms);

}  // namespace tenon::journal::sqlite
