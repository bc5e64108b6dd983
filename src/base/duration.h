#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tenon {

/// Reads a whole number and a unit, `ms`, `s`, `m`, `h` or `d`, as in `30s`: milliseconds. Nothing for other text, and
/// for a number that does not fit.
[[nodiscard]] std::optional<std::uint64_t> read_duration_ms(std::string_view text);

/// Writes milliseconds with the largest unit of which they are a whole number: `30 s`, `5 min`, `1500 ms`.
[[nodiscard]] std::string describe_duration_ms(std::uint64_t milliseconds);

}  // namespace tenon
