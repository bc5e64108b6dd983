#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tenon::types {

/// The candidate that an unknown `name` of an item, a field or a case most likely means: one that is spelt similarly
/// (diagnostics::find_nearest), or the present name of what the standard library once called so.
[[nodiscard]] std::optional<std::string> find_meant(std::string_view name,
                                                    std::span<const std::string_view> candidates);

}  // namespace tenon::types
