#include "base/utf8.h"

#include <algorithm>

namespace tenon {
namespace {

constexpr bool is_continuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

}  // namespace

std::size_t find_invalid_utf8(std::string_view bytes) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  std::size_t i = 0;
  while (i < bytes.size()) {
    const unsigned char lead = at(i);
    if (lead < 0x80) {
      ++i;
      continue;
    }
    std::size_t length = 0;
    unsigned char low = 0x80;
    unsigned char high = 0xBF;
    if (lead >= 0xC2 && lead <= 0xDF) {
      length = 2;
    } else if (lead >= 0xE0 && lead <= 0xEF) {
      length = 3;
      if (lead == 0xE0) low = 0xA0;
      if (lead == 0xED) high = 0x9F;
    } else if (lead >= 0xF0 && lead <= 0xF4) {
      length = 4;
      if (lead == 0xF0) low = 0x90;
      if (lead == 0xF4) high = 0x8F;
    } else {
      return i;
    }
    if (bytes.size() - i < length || at(i + 1) < low || at(i + 1) > high) return i;
    for (std::size_t k = 2; k < length; ++k) {
      if (!is_continuation(bytes[i + k])) return i;
    }
    i += length;
  }
  return std::string_view::npos;
}

std::string replace_invalid_utf8(std::string bytes) {
  std::size_t wrong = find_invalid_utf8(bytes);
  if (wrong == std::string_view::npos) return bytes;
  constexpr std::string_view replacement = "\xEF\xBF\xBD";
  std::string valid;
  std::string_view rest = bytes;
  for (; wrong != std::string_view::npos; wrong = find_invalid_utf8(rest)) {
    valid += rest.substr(0, wrong);
    valid += replacement;
    rest.remove_prefix(wrong + 1);
  }
  valid += rest;
  return valid;
}

std::size_t count_code_points(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char byte) { return !is_continuation(byte); }));
}

std::size_t offset_of_code_point(std::string_view text, std::size_t index) {
  std::size_t offset = 0;
  for (; offset < text.size(); ++offset) {
    if (is_continuation(text[offset])) continue;
    if (index == 0) return offset;
    --index;
  }
  return offset;
}

}  // namespace tenon
