#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tenon {

/// Whether the byte goes on with a code point that began before it.
[[nodiscard]] constexpr bool is_utf8_continuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

/// The length in bytes, 1 to 4, of the well-formed UTF-8 sequence that begins at `at` (RFC 3629: shortest form, no
/// surrogates); 0 where there is none.
[[nodiscard]] std::size_t utf8_sequence_length(std::string_view text, std::size_t at);

/// The offset of the first byte that is no UTF-8, or npos.
[[nodiscard]] std::size_t find_invalid_utf8(std::string_view bytes);

/// Each byte that is no UTF-8 becomes U+FFFD.
[[nodiscard]] std::string replace_invalid_utf8(std::string bytes);

/// The longest prefix of at most `bytes_max` bytes that does not split a code point.
[[nodiscard]] std::string_view cut_utf8(std::string_view text, std::size_t bytes_max);

/// How many bytes begin a code point: of UTF-8 text its length in code points.
[[nodiscard]] std::size_t count_code_points(std::string_view text);

/// The byte offset of the code point `index` of UTF-8 text; the end, if there are no more than that.
[[nodiscard]] std::size_t offset_of_code_point(std::string_view text, std::size_t index);

}  // namespace tenon
