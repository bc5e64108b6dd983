#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "types/type_table.h"

namespace tenon::types {

/// Whole numbers, both ends included.
struct Interval {
  std::int64_t low = INT64_MIN;
  std::int64_t high = INT64_MAX;
  friend bool operator==(const Interval&, const Interval&) = default;
};

/// A pattern as the coverage check sees it: anything, one way to make a value with patterns for its parts, or some
/// whole numbers.
struct PatternShape {
  bool is_wildcard = true;
  std::string constructor;  ///< as the source shows it; two are the same when their texts are
  std::vector<PatternShape> parts = {};
  std::optional<Interval> numbers = std::nullopt;
};

/// Which values none of `rows` matches, as the source would show them, joined by commas; nothing when all are matched.
/// After Maranget, "Warnings for pattern matching" (2007).
[[nodiscard]] std::optional<std::string> find_uncovered(const TypeTable& types, TypeId type,
                                                        std::span<const PatternShape> rows);

/// Whether `row` matches a value that none of `before` does.
[[nodiscard]] bool is_useful(const TypeTable& types, TypeId type, std::span<const PatternShape> before,
                             const PatternShape& row);

}  // namespace tenon::types
