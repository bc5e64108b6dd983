#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tenon {

/// Reads a whole number and a unit, `ms`, `s`, `m`, `h` or `d`, as in `30s`: milliseconds. Nothing for other text, and
/// for a number that does not fit.
[[nodiscard]] std::optional<std::uint64_t> read_duration_ms(std::string_view text);

}  // namespace tenon
