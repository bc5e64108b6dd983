#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace tenon::syntax {

/// The types that every program has, by their names.
inline constexpr auto builtin_type_names =
    std::to_array<std::string_view>({"String", "Boolean", "i32", "i64", "f64", "Context", "List", "Map", "Option",
                                     "Result", "Tools", "Failure", "FailureKind"});

[[nodiscard]] constexpr bool is_builtin_type(std::string_view name) {
  return std::ranges::find(builtin_type_names, name) != builtin_type_names.end();
}

}  // namespace tenon::syntax
