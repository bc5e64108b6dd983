#pragma once

#include <cstdint>
#include <string_view>

#include "types/table/type_table.h"

/// Which values a refinement or a union has: the one place that compares them.
namespace tenon::types {

/// Whether the number is within the bounds.
[[nodiscard]] bool is_within(const Refinement& refinement, std::int64_t number);
/// The same. A NaN is within no bounds.
[[nodiscard]] bool is_within(const Refinement& refinement, double number);
/// Whether a text of so many code points, or a list of so many elements, is as long as it has to be.
[[nodiscard]] bool is_within_length(const Refinement& refinement, std::uint64_t length);

[[nodiscard]] bool has_literal(const UnionType& type, std::string_view text);
[[nodiscard]] bool has_literal(const UnionType& type, std::int64_t number);
/// Whether each literal of `from` is one of `to`.
[[nodiscard]] bool is_subset(const UnionType& from, const UnionType& to);

}  // namespace tenon::types
