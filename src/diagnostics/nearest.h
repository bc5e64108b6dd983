#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tenon::diagnostics {

/// The candidate that a misspelt `name` most likely means: the one with the smallest edit distance (Damerau, optimal
/// string alignment), if the distance is at most a third of the length of the name, and at most `distance_max`.
[[nodiscard]] std::optional<std::string> find_nearest(std::string_view name,
                                                      std::span<const std::string_view> candidates,
                                                      std::size_t distance_max = SIZE_MAX);

}  // namespace tenon::diagnostics
