#pragma once

#include <string_view>

namespace tenon {

/// The order of an object's members in canonical JSON: by UTF-16 code units (RFC 8785, 3.2.3). Both names are UTF-8.
[[nodiscard]] bool precedes_in_utf16(std::string_view left, std::string_view right);

}  // namespace tenon
