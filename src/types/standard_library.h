#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace tenon::types {

/// The text of stdlib/NAME.tn as it was when the library was built; nothing when there is no such module. Defined in a
/// generated source: see cmake/stdlib.cmake.
[[nodiscard]] std::optional<std::string_view> find_standard_module(std::string_view name);

/// All modules of the standard library, in the order of their names.
[[nodiscard]] std::span<const std::string_view> standard_module_names();

}  // namespace tenon::types
