#pragma once

#include <string>
#include <string_view>

namespace tenon::inference {

/// Appends `text` as a JSON string, quotes included. Bytes that are not UTF-8 become U+FFFD, so that what comes out is
/// JSON whatever went in.
void append_json_string(std::string& out, std::string_view text);

/// The length of the well-formed UTF-8 sequence that begins at `at` (Unicode, table 3-7); 0 where there is none.
[[nodiscard]] std::size_t utf8_sequence_length(std::string_view text, std::size_t at);

}  // namespace tenon::inference
