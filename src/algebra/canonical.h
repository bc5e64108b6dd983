#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "json/reader.h"

namespace tenon::algebra {

/// Arrays and objects inside one another that a canonical form may have: those of a recorded value, and the artifacts'
/// own around it.
inline constexpr std::size_t nesting_max = 1'100;
inline constexpr JsonLimits artifact_limits{SIZE_MAX, nesting_max, SIZE_MAX};

/// Why a text has no canonical form.
struct CanonicalError {
  std::string message;
};

/// The canonical form of a JSON text (JsonForm::Canonical). Fails when the text is no JSON, is nested deeper than
/// `nesting_max`, or holds a number that no double can hold.
[[nodiscard]] Result<std::string, CanonicalError> canonicalize(std::string_view text);

}  // namespace tenon::algebra
