#include "base/utf8.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace tenon {

std::size_t utf8_sequence_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t offset) -> unsigned {
    return at + offset < text.size() ? static_cast<unsigned char>(text[at + offset]) : 0U;
  };
  const auto continues = [&](std::size_t offset) { return (byte(offset) & 0xC0U) == 0x80U; };
  const unsigned first = byte(0);
  if (first < 0x80) return at < text.size() ? 1 : 0;
  if (first >= 0xC2 && first <= 0xDF) return continues(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const unsigned lowest = first == 0xE0 ? 0xA0U : 0x80U;
    const unsigned highest = first == 0xED ? 0x9FU : 0xBFU;
    return byte(1) >= lowest && byte(1) <= highest && continues(2) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const unsigned lowest = first == 0xF0 ? 0x90U : 0x80U;
    const unsigned highest = first == 0xF4 ? 0x8FU : 0xBFU;
    return byte(1) >= lowest && byte(1) <= highest && continues(2) && continues(3) ? 4 : 0;
  }
  return 0;
}

std::size_t find_invalid_utf8(std::string_view bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    while (bytes.size() - at >= sizeof(std::uint64_t)) {
      std::uint64_t piece = 0;
      std::memcpy(&piece, bytes.data() + at, sizeof piece);
      if ((piece & 0x8080808080808080U) != 0) break;
      at += sizeof piece;
    }
    if (at == bytes.size()) break;
    const bool is_ascii = static_cast<unsigned char>(bytes[at]) < 0x80;
    const std::size_t length = is_ascii ? 1 : utf8_sequence_length(bytes, at);
    if (length == 0) return at;
    at += length;
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

void append_utf8(std::string& out, char32_t code_point) {
  const auto append = [&out](char32_t byte) { out += static_cast<char>(static_cast<unsigned char>(byte)); };
  if (code_point < 0x80U) {
    append(code_point);
  } else if (code_point < 0x800U) {
    append(0xC0U | (code_point >> 6U));
    append(0x80U | (code_point & 0x3FU));
  } else if (code_point < 0x10000U) {
    append(0xE0U | (code_point >> 12U));
    append(0x80U | ((code_point >> 6U) & 0x3FU));
    append(0x80U | (code_point & 0x3FU));
  } else {
    append(0xF0U | (code_point >> 18U));
    append(0x80U | ((code_point >> 12U) & 0x3FU));
    append(0x80U | ((code_point >> 6U) & 0x3FU));
    append(0x80U | (code_point & 0x3FU));
  }
}

std::string_view cut_utf8(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  std::size_t end = bytes_max;
  while (end > 0 && is_utf8_continuation(text[end])) --end;
  return text.substr(0, end);
}

std::size_t count_code_points(std::string_view text) {
  constexpr std::uint64_t ones = 0x0101010101010101;
  std::size_t continuations = 0;
  std::size_t at = 0;
  for (; at + sizeof(std::uint64_t) <= text.size(); at += sizeof(std::uint64_t)) {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, text.data() + at, sizeof bytes);
    // A continuation has the highest bit and not the next one. The product's highest byte is the sum of all.
    continuations += (((bytes >> 7U) & (~bytes >> 6U) & ones) * ones) >> 56U;
  }
  for (; at < text.size(); ++at) continuations += is_utf8_continuation(text[at]) ? 1U : 0U;
  return text.size() - continuations;
}

std::size_t offset_of_code_point(std::string_view text, std::size_t index) {
  std::size_t offset = 0;
  for (; offset < text.size(); ++offset) {
    if (is_utf8_continuation(text[offset])) continue;
    if (index == 0) return offset;
    --index;
  }
  return offset;
}

namespace {

constexpr std::size_t half_bytes = 3;
constexpr std::string_view replacement_character = "\xEF\xBF\xBD";
static_assert(replacement_character.size() == half_bytes);

/// The half of a surrogate pair that is written at a place; 0 if there is none.
std::uint32_t half_at(std::string_view text, std::size_t at) {
  if (text.size() - at < half_bytes || text[at] != '\xED') return 0;
  const auto second = static_cast<unsigned char>(text[at + 1]);
  const auto third = static_cast<unsigned char>(text[at + 2]);
  if (second < 0xA0U || second > 0xBFU || third < 0x80U || third > 0xBFU) return 0;
  return 0xD000U | (static_cast<std::uint32_t>(second & 0x3FU) << 6U) | (third & 0x3FU);
}

bool is_high(std::uint32_t half) {
  return half >= 0xD800U && half < 0xDC00U;
}

}  // namespace

void append_half_surrogate(std::string& out, std::uint32_t half) {
  out += '\xED';
  out += static_cast<char>(0x80U | ((half >> 6U) & 0x3FU));
  out += static_cast<char>(0x80U | (half & 0x3FU));
}

bool ends_with_high_surrogate(std::string_view text) {
  return text.size() >= half_bytes && is_high(half_at(text, text.size() - half_bytes));
}

void append_joining_surrogates(std::string& out, std::string_view text) {
  if (text.empty()) return;
  if (ends_with_high_surrogate(out)) {
    const std::uint32_t high = half_at(out, out.size() - half_bytes);
    const std::uint32_t low = half_at(text, 0);
    out.resize(out.size() - half_bytes);
    if (low >= 0xDC00U) {
      append_utf8(out, 0x10000U + ((high - 0xD800U) << 10U) + (low - 0xDC00U));
      text.remove_prefix(half_bytes);
    } else {
      out += replacement_character;
    }
  }
  std::size_t at = out.size();
  out += text;
  while ((at = out.find('\xED', at)) != std::string::npos) {
    const std::uint32_t half = half_at(out, at);
    const bool may_be_joined = is_high(half) && at + half_bytes == out.size();
    if (half != 0 && !may_be_joined) out.replace(at, half_bytes, replacement_character);
    at += half == 0 ? 1 : half_bytes;
  }
}

void end_surrogates(std::string& text) {
  if (ends_with_high_surrogate(text)) text.replace(text.size() - half_bytes, half_bytes, replacement_character);
}

}  // namespace tenon
