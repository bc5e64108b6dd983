#pragma once

#include <string_view>

#include "base/result.h"
#include "json/reader.h"

namespace tenon {

/// Reads the JSON value in a model's answer. Skipped: a code fence, prose before and after the value. Understood:
/// trailing commas, comments (`//`, `#`, `/* */`), single quotes, keys without quotes, Python's True, False and None,
/// line breaks and tabs inside strings, `+5`, `.5` and `5.`. Whatever could mean two things is refused instead: see
/// JsonErrorKind.
[[nodiscard]] Result<Json, JsonError> parse_lenient(std::string_view text);

}  // namespace tenon
