#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace tenon {

/// The decimal number that the whole text is; nothing for any other text, and for a number that does not fit.
template <class Number>
[[nodiscard]] std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace tenon
