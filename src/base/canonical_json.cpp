#include "base/canonical_json.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>

#include "base/ensure.h"

namespace tenon {

void append_canonical_number(double value, std::string& out) {
  ENSURE(std::isfinite(value));
  if (value == 0) {
    out += '0';
    return;
  }
  // The shortest digits that read back as the same number; the library's fixed format would write more digits.
  std::array<char, 32> buffer{};
  const auto written =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), std::fabs(value), std::chars_format::scientific);
  const std::string_view shortest(buffer.data(), static_cast<std::size_t>(written.ptr - buffer.data()));
  const std::size_t mark = shortest.find('e');
  std::string digits(shortest.substr(0, 1));
  if (mark > 1) digits += shortest.substr(2, mark - 2);
  int exponent = 0;
  const std::size_t sign = shortest[mark + 1] == '+' ? 1 : 0;
  std::from_chars(shortest.data() + mark + 1 + sign, shortest.data() + shortest.size(), exponent);

  if (value < 0) out += '-';
  const int count = static_cast<int>(digits.size());
  const int point = exponent + 1;  // digits before the decimal point
  if (point > 21 || point <= -6) {
    out += digits[0];
    if (count > 1) out += '.' + digits.substr(1);
    out += (exponent < 0 ? "e-" : "e+") + std::to_string(std::abs(exponent));
  } else if (point <= 0) {
    out += "0.";
    out.append(static_cast<std::size_t>(-point), '0');
    out += digits;
  } else if (count <= point) {
    out += digits;
    out.append(static_cast<std::size_t>(point - count), '0');
  } else {
    out += digits.substr(0, static_cast<std::size_t>(point)) + '.' + digits.substr(static_cast<std::size_t>(point));
  }
}

bool precedes_in_utf16(std::string_view left, std::string_view right) {
  const auto [a, b] = std::mismatch(left.begin(), left.end(), right.begin(), right.end());
  if (b == right.end()) return false;
  if (a == left.end()) return true;
  // UTF-8 sorts by code point. UTF-16 differs in one case: characters that need surrogates (lead bytes from F0 on)
  // precede U+E000…U+FFFF (lead bytes EE and EF). If the lead bytes are equal, the order of the bytes is that of the
  // units.
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
