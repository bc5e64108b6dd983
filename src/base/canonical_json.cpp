#include "base/canonical_json.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/ensure.h"

namespace tenon {

void append_canonical_number(double value, std::string& out) {
  ENSURE(std::isfinite(value));
  if (value == 0) {
    out += '0';
    return;
  }
  std::array<char, 64> buffer{};
  const double magnitude = std::fabs(value);
  const bool is_plain = magnitude >= 1e-6 && magnitude < 1e21;
  const auto written = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                     is_plain ? std::chars_format::fixed : std::chars_format::scientific);
  const std::string_view digits(buffer.data(), static_cast<std::size_t>(written.ptr - buffer.data()));
  const std::size_t exponent = digits.find('e');
  if (exponent == std::string_view::npos) {
    out += digits;
    return;
  }
  // The library writes two digits of an exponent at least, ECMAScript as many as it has.
  out += digits.substr(0, exponent + 2);
  std::string_view power = digits.substr(exponent + 2);
  while (power.size() > 1 && power.front() == '0') power.remove_prefix(1);
  out += power;
}

bool precedes_in_utf16(std::string_view left, std::string_view right) {
  const auto [a, b] = std::mismatch(left.begin(), left.end(), right.begin(), right.end());
  if (b == right.end()) return false;
  if (a == left.end()) return true;
  // UTF-8 sorts by code point. UTF-16 differs in one thing: what needs surrogates (lead bytes from F0 on) comes before
  // U+E000…U+FFFF (lead bytes EE and EF). Where lead bytes are equal, the order of the bytes is that of the units.
  const auto first = static_cast<unsigned char>(*a);
  const auto second = static_cast<unsigned char>(*b);
  const bool first_is_high = first >= 0xF0;
  const bool second_is_high = second >= 0xF0;
  if (first_is_high != second_is_high) {
    if (first_is_high && second >= 0xEE) return true;
    if (second_is_high && first >= 0xEE) return false;
  }
  return first < second;
}

}  // namespace tenon
