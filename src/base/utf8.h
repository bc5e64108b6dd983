#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tenon {

/// The offset of the first byte that is no UTF-8 (RFC 3629: shortest form, no surrogates), or npos.
[[nodiscard]] std::size_t find_invalid_utf8(std::string_view bytes);

/// Each byte that is no UTF-8 becomes U+FFFD.
[[nodiscard]] std::string replace_invalid_utf8(std::string bytes);

[[nodiscard]] std::size_t count_code_points(std::string_view text);

/// The byte offset of the code point `index` of UTF-8 text; the end, if there are no more than that.
[[nodiscard]] std::size_t offset_of_code_point(std::string_view text, std::size_t index);

}  // namespace tenon
