#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tenon {

/// U+FEFF, with which some programs begin a UTF-8 text.
inline constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

/// Whether the byte continues a code point that started before it.
[[nodiscard]] constexpr bool is_utf8_continuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

/// The length in bytes, 1 to 4, of the well-formed UTF-8 sequence that starts at `at` (RFC 3629: shortest form, no
/// surrogates); 0 if there is none.
[[nodiscard]] std::size_t utf8_sequence_length(std::string_view text, std::size_t at);

/// The offset of the first byte that is not UTF-8, or npos.
[[nodiscard]] std::size_t find_invalid_utf8(std::string_view bytes);

/// Replaces each byte that is not UTF-8 with U+FFFD.
[[nodiscard]] std::string replace_invalid_utf8(std::string bytes);

/// Appends the code point, which is a Unicode scalar value.
void append_utf8(std::string& out, char32_t code_point);

/// Half of a surrogate pair is not a code point, but UTF-16 that was cut has some. These write it as a code point would
/// be written, in three bytes that are not UTF-8, until its other half comes.
///
/// Appends half of a pair: a value from 0xD800 to 0xDFFF.
void append_half_surrogate(std::string& out, std::uint32_t half);
/// Whether the text ends with the first half of a pair.
[[nodiscard]] bool ends_with_high_surrogate(std::string_view text);
/// Appends a text that may contain halves. A first half at the end of `out` and a second one at the begin of `text`
/// become their character; all other halves U+FFFD, except a first one at the end.
void append_joining_surrogates(std::string& out, std::string_view text);
/// Replaces a first half at the end by U+FFFD.
void end_surrogates(std::string& text);

/// The longest prefix of at most `bytes_max` bytes that does not split a code point.
[[nodiscard]] std::string_view cut_utf8(std::string_view text, std::size_t bytes_max);

/// The number of bytes that start a code point: for UTF-8 text, its length in code points.
[[nodiscard]] std::size_t count_code_points(std::string_view text);

/// The byte offset of code point `index` of UTF-8 text; the end of the text if there are not that many.
[[nodiscard]] std::size_t offset_of_code_point(std::string_view text, std::size_t index);

}  // namespace tenon
