#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace tenon::test {

/// Rewrites a pattern of JSON Schema (ECMA-262's regular expressions, with the flag `u`) as one that means the same to
/// RE2. Fails, with the reason, on what RE2 has nothing for (look-around, backreferences, most Unicode properties) and
/// on what only RE2 knows (`(?i)`, `\A`, `[[:alpha:]]` as a class). What it gives may still be more than RE2 takes.
[[nodiscard]] Result<std::string, std::string> translate_ecma_pattern(std::string_view pattern);

}  // namespace tenon::test
