#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/result.h"

namespace tenon::algebra {

/// Arrays and objects inside one another that a canonical form may have: those of a recorded value, and the artifacts'
/// own around it.
inline constexpr std::size_t nesting_max = 1'100;

/// Why a text has no canonical form.
struct CanonicalError {
  std::string message;
};

/// Appends the value as RFC 8785 writes it: keys in the order of their UTF-16 code units, numbers as ECMAScript writes
/// them, no blanks. Every number counts as a double.
void append_canonical(const nlohmann::json& value, std::string& out);

/// The canonical form of a JSON text. Fails when the text is no JSON, is nested deeper than `nesting_max`, or
/// holds a number that no double can hold.
[[nodiscard]] Result<std::string, CanonicalError> canonicalize(std::string_view text);

}  // namespace tenon::algebra
