#pragma once

#include "json/json.h"

namespace tenon::test {

/// Whether `value` is a whole multiple of `divisor`, in decimal arithmetic: 0.3 is a multiple of 0.1, and 1e308 /
/// 1e-308 does not overflow. Both are numeric, `divisor` is above 0.
[[nodiscard]] bool is_multiple(const Json& value, const Json& divisor);

}  // namespace tenon::test
