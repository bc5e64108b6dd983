#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "types/table/type_table.h"

namespace tenon::inference::answers {

/// The bounds of i64 and f64 in a schema: the widest range that is exact as i64 and as f64 alike, and that llguidance
/// can hold: a range's length must fit i64, and so must the whole part of a bounded number. An answer beyond them is
/// still understood.
inline constexpr std::int64_t schema_number_max = INT64_MAX - 1023;

/// The constraints of a chain of refinements and of their base type, combined.
struct Constraints {
  types::TypeId base;
  std::int64_t integer_low = INT64_MIN, integer_high = INT64_MAX;  ///< for I32 and I64
  std::optional<double> number_low, number_high;                   ///< for F64
  bool number_high_is_exclusive = false;
  std::optional<std::uint64_t> length_low, length_high;
  std::vector<std::string> patterns;  ///< each a whole match, RE2 syntax
};

[[nodiscard]] Constraints find_constraints(const types::TypeTable& types, types::TypeId type);

}  // namespace tenon::inference::answers
