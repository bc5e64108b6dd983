#include "inference/json_text.h"

#include <array>
#include <cstdint>
#include <cstring>

namespace tenon::inference {
namespace {

constexpr std::uint64_t ones = 0x0101010101010101U;
constexpr std::uint64_t high_bits = 0x8080808080808080U;

/// Whether one of eight bytes is a control character, a quote, a backslash or not ASCII. May say yes for a byte that
/// follows such a byte, never no for one.
bool needs_attention(std::uint64_t bytes) {
  const std::uint64_t quote = bytes ^ (ones * '"');
  const std::uint64_t backslash = bytes ^ (ones * '\\');
  const std::uint64_t below_space = bytes - ones * 0x20;
  return (((quote - ones) | (backslash - ones) | below_space | bytes) & high_bits) != 0;
}

bool is_plain(unsigned char byte) {
  return byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\';
}

void append_escaped(std::string& out, unsigned char byte) {
  static constexpr std::string_view hex = "0123456789abcdef";
  switch (byte) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\b':
      out += "\\b";
      return;
    case '\f':
      out += "\\f";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      break;
  }
  const std::array<char, 6> escape = {'\\', 'u', '0', '0', hex[byte >> 4U], hex[byte & 0xFU]};
  out.append(escape.data(), escape.size());
}

}  // namespace

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

void append_json_string(std::string& out, std::string_view text) {
  out.push_back('"');
  std::size_t run_begin = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    if (text.size() - at >= sizeof(std::uint64_t)) {
      std::uint64_t bytes = 0;
      std::memcpy(&bytes, text.data() + at, sizeof bytes);
      if (!needs_attention(bytes)) {
        at += sizeof bytes;
        continue;
      }
    }
    const auto byte = static_cast<unsigned char>(text[at]);
    if (is_plain(byte)) {
      ++at;
      continue;
    }
    if (byte >= 0x80) {
      if (const std::size_t length = utf8_sequence_length(text, at); length != 0) {
        at += length;
        continue;
      }
    }
    out.append(text.substr(run_begin, at - run_begin));
    if (byte >= 0x80) {
      out += "\xEF\xBF\xBD";
    } else {
      append_escaped(out, byte);
    }
    run_begin = ++at;
  }
  out.append(text.substr(run_begin));
  out.push_back('"');
}

}  // namespace tenon::inference
