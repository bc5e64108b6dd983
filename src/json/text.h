#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tenon {

/// Appends `text` as it appears in a JSON string, without the quotes, in the canonical form of RFC 8785: only `"`, `\`
/// and U+0000 to U+001F are escaped, as `\b \t \n \f \r` if there is such a form, otherwise as `\u00xx` in lower case;
/// everything else, including U+007F, is unchanged. Each byte that is not UTF-8 becomes U+FFFD, so the result is valid
/// JSON for any input.
void append_json_escaped(std::string& out, std::string_view text);

/// The same, which ends early when `out` is longer than `bytes_max`: the text is then incomplete, and `out` a little
/// longer than the limit.
void append_json_escaped(std::string& out, std::string_view text, std::size_t bytes_max);

/// The same with the quotes: a JSON string.
void append_json_string(std::string& out, std::string_view text);

/// The same as a new string.
[[nodiscard]] std::string make_json_string(std::string_view text);

}  // namespace tenon
