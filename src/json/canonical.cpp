#include "json/canonical.h"

#include <algorithm>

namespace tenon {

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
