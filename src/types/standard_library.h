#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace tenon::types {

/// The source of a module of the standard library by its path, such as `std/contracts.tn`. The modules stand in stdlib/
/// and are part of the binary.
[[nodiscard]] std::optional<std::string_view> find_standard_module(std::string_view path);
[[nodiscard]] std::vector<std::string_view> standard_module_paths();

/// What the compiler calls for contracts.
inline constexpr std::string_view contracts_module = "std/contracts.tn";

}  // namespace tenon::types
