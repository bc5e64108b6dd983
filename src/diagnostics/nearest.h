#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tenon::diagnostics {

/// The candidate that a misspelt `name` most likely means: by edit distance, transpositions counting one, at most a
/// third of the name's length (Damerau, optimal string alignment). Nothing when none is near.
[[nodiscard]] std::optional<std::string> find_nearest(std::string_view name,
                                                      std::span<const std::string_view> candidates);

}  // namespace tenon::diagnostics
