#pragma once

#include <string_view>

namespace tenon {

/// Independent of the locale, unlike the functions of <cctype>.
constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
constexpr bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
/// Removes spaces and line ends at both ends.
constexpr std::string_view trimmed(std::string_view text) {
  constexpr std::string_view white_space = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(white_space);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(white_space) - begin + 1);
}

}  // namespace tenon
