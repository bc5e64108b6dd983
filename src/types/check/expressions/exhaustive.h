#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "types/table/type_table.h"

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

/// One alternative of the pattern of an arm.
struct PatternRow {
  PatternShape shape;
  std::uint32_t arm = 0;
  bool is_guarded = false;  ///< the arm has a guard, so the pattern covers nothing for certain
};

struct Coverage {
  std::vector<bool> is_reached;          ///< by arm: it matches a value that no unguarded row before it matches
  std::optional<std::string> uncovered;  ///< values that no unguarded row matches, as patterns, joined by ` | `
};

/// What the rows of a `match`, in their order, cover of a type. The time is linear in the rows, unless wildcards and
/// other patterns alternate in several columns, which takes exponential time in the worst case. Work past a limit,
/// which is proportional to the number of rows, is not done: then every arm counts as reached and the match as
/// complete. `names`: of structs and enums, where their own are not used as constructors.
[[nodiscard]] Coverage find_coverage(const TypeTable& types, TypeId type, std::span<const PatternRow> rows,
                                     std::uint32_t arm_count, const TypeNames& names = {});

}  // namespace tenon::types
