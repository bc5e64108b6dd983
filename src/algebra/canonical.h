#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "json/reader.h"

namespace tenon::algebra {

/// Maximum nesting of a canonical form: that of a recorded value, and of the artifacts around it.
inline constexpr std::size_t nesting_max = 1'100;
inline constexpr JsonLimits artifact_limits{SIZE_MAX, nesting_max, SIZE_MAX};

/// Why a text has no canonical form.
struct CanonicalError {
  std::string message;
};

/// The canonical form of a JSON text (JsonForm::Canonical). Fails if the text is not JSON, is nested deeper than
/// `nesting_max`, or contains a number that is out of range for a double.
[[nodiscard]] Result<std::string, CanonicalError> canonicalize(std::string_view text);

}  // namespace tenon::algebra
