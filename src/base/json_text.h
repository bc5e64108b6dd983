#pragma once

#include <string>
#include <string_view>

namespace tenon {

/// Appends `text` as it stands within a JSON string, without the quotes, in the canonical form of RFC 8785: escaped are
/// `"`, `\` and U+0000 to U+001F alone, as `\b \t \n \f \r` where there is such a form, else as `\u00xx` in lower case;
/// all else, U+007F too, stays as it is. Bytes that are not UTF-8 become U+FFFD, one each, so that what comes out is
/// JSON whatever went in.
void append_json_escaped(std::string& out, std::string_view text);

/// The same with the quotes: a JSON string.
void append_json_string(std::string& out, std::string_view text);

/// The same as a text of its own.
[[nodiscard]] std::string make_json_string(std::string_view text);

}  // namespace tenon
