#pragma once

#include <string>
#include <string_view>

/// The parts of RFC 8785 that make equal data have equal JSON text.
namespace tenon {

/// A finite number as ECMAScript writes it (RFC 8785, 3.2.2.3): `1`, `0.1`, `1e+21`, `1e-7`; both zeros are `0`.
void append_canonical_number(double value, std::string& out);

/// The order of an object's keys: by UTF-16 code units (RFC 8785, 3.2.3). Both are UTF-8.
[[nodiscard]] bool precedes_in_utf16(std::string_view left, std::string_view right);

}  // namespace tenon
