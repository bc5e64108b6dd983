#include "json/text.h"

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/utf8.h"

namespace tenon {
namespace {

#ifdef __SSE2__
constexpr std::size_t block_bytes = 16;

/// The number of bytes before the first of a block that is a control character, a quote, a backslash or not ASCII.
unsigned plain_bytes(const char* block) {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(block));
  // Bytes that are not ASCII are negative.
  const __m128i below_space = _mm_cmplt_epi8(bytes, _mm_set1_epi8(' '));
  const __m128i quotes = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
  const __m128i backslashes = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
  const int marks = _mm_movemask_epi8(_mm_or_si128(below_space, _mm_or_si128(quotes, backslashes)));
  return static_cast<unsigned>(std::countr_zero(static_cast<unsigned>(marks) | (1U << block_bytes)));
}
#else
constexpr std::size_t block_bytes = 8;

constexpr std::uint64_t ones = 0x0101010101010101U;
constexpr std::uint64_t high_bits = 0x8080808080808080U;

/// The number of bytes before the first of a block that is a control character, a quote, a backslash or not ASCII.
/// The highest bit of a byte in `marks` is set if the byte is one of these, or because of a borrow from such a byte
/// before it; the first mark is always correct.
unsigned plain_bytes(const char* block) {
  static_assert(std::endian::native == std::endian::little, "the first byte is the lowest");
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, block, sizeof bytes);
  const std::uint64_t quote = bytes ^ (ones * '"');
  const std::uint64_t backslash = bytes ^ (ones * '\\');
  const std::uint64_t below_space = bytes - ones * 0x20;
  const std::uint64_t marks = ((quote - ones) | (backslash - ones) | below_space | bytes) & high_bits;
  return static_cast<unsigned>(std::countr_zero(marks)) / 8;
}
#endif

/// For each byte the letter after the backslash of its escape; 0 if it does not have a one-letter escape.
constexpr std::array<char, 256> short_escapes = [] {
  std::array<char, 256> letters{};
  letters['"'] = '"';
  letters['\\'] = '\\';
  letters['\b'] = 'b';
  letters['\f'] = 'f';
  letters['\n'] = 'n';
  letters['\r'] = 'r';
  letters['\t'] = 't';
  return letters;
}();

bool is_plain(char byte) {
  return static_cast<unsigned char>(byte) >= 0x20 && static_cast<unsigned char>(byte) < 0x80 && byte != '"' &&
         byte != '\\';
}

/// The number of bytes before the first that needs an escape or is not ASCII.
std::size_t plain_prefix(std::string_view text) {
  std::size_t at = 0;
  for (; text.size() - at >= block_bytes; at += block_bytes) {
    if (const unsigned plain = plain_bytes(text.data() + at); plain < block_bytes) return at + plain;
  }
  while (at < text.size() && is_plain(text[at])) ++at;
  return at;
}

/// Collects the output in a small buffer, so that text with many escapes does not cost a call for each.
class BufferedAppender {
 public:
  explicit BufferedAppender(std::string& out) : out_(out) {}
  ~BufferedAppender() { flush(); }
  BufferedAppender(const BufferedAppender&) = delete;
  BufferedAppender& operator=(const BufferedAppender&) = delete;

  /// The maximum number of bytes to write after a `reserve`.
  static constexpr std::size_t step_max = 2 * block_bytes;
  void reserve() {
    if (buffer_.size() - size_ < step_max) flush();
  }
  /// Writes a block, of which the first `kept` bytes remain.
  void write_block(const char* block, unsigned kept) {
    std::memcpy(buffer_.data() + size_, block, block_bytes);
    size_ += kept;
  }
  void write(char byte) { buffer_[size_++] = byte; }
  void write_short_escape(char letter) {
    write('\\');
    write(letter);
  }
  void write(std::string_view text) {
    for (const char byte : text) write(byte);
  }

 private:
  void flush() {
    out_.append(buffer_.data(), size_);
    size_ = 0;
  }

  std::string& out_;
  std::array<char, 4096> buffer_;
  std::size_t size_ = 0;
};

/// Writes the character at `at`, which may need an escape or be invalid, and returns the number of bytes that it has in
/// the input.
std::size_t write_character(BufferedAppender& out, std::string_view text, std::size_t at) {
  static constexpr std::string_view hex = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(text[at]);
  if (byte >= 0x80) {
    const std::size_t length = utf8_sequence_length(text, at);
    out.write(length == 0 ? "\xEF\xBF\xBD" : text.substr(at, length));
    return length == 0 ? 1 : length;
  }
  if (const char letter = short_escapes[byte]; letter != 0) {
    out.write_short_escape(letter);
  } else if (byte >= 0x20) {
    out.write(text[at]);
  } else {
    out.write("\\u00");
    out.write(hex[byte >> 4U]);
    out.write(hex[byte & 0xFU]);
  }
  return 1;
}

}  // namespace

void append_json_escaped(std::string& out, std::string_view text) {
  std::size_t at = plain_prefix(text);
  out.append(text, 0, at);
  if (at == text.size()) return;
  BufferedAppender appender(out);
  while (text.size() - at >= block_bytes) {
    const unsigned plain = plain_bytes(text.data() + at);
    appender.reserve();
    appender.write_block(text.data() + at, plain);
    at += plain;
    if (plain == block_bytes) continue;
    if (const char letter = short_escapes[static_cast<unsigned char>(text[at])]; letter != 0) {
      appender.write_short_escape(letter);
      ++at;
    } else {
      at += write_character(appender, text, at);
    }
  }
  while (at < text.size()) {
    appender.reserve();
    at += write_character(appender, text, at);
  }
}

void append_json_escaped(std::string& out, std::string_view text, std::size_t bytes_max) {
  // Escapes can make a text six times as long.
  constexpr std::size_t part_bytes = std::size_t{1} << 20U;
  while (!text.empty() && out.size() <= bytes_max) {
    // A part that has no end of a code point is not UTF-8, and need not be kept together.
    std::string_view part = cut_utf8(text, part_bytes);
    if (part.empty()) part = text.substr(0, part_bytes);
    append_json_escaped(out, part);
    text.remove_prefix(part.size());
  }
}

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  append_json_escaped(out, text);
  out += '"';
}

std::string make_json_string(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

}  // namespace tenon
