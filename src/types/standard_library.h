#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace tenon::types {

/// The text of stdlib/NAME.tn at build time; nothing if there is no such module. Defined in a generated source: see
/// cmake/stdlib.cmake.
[[nodiscard]] std::optional<std::string_view> find_standard_module(std::string_view name);

/// All modules of the standard library, ordered by name.
[[nodiscard]] std::span<const std::string_view> standard_module_names();

}  // namespace tenon::types
