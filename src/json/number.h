#pragma once

#include <string>

namespace tenon {

/// A finite number as ECMAScript writes it (RFC 8785, 3.2.2.3): `1`, `0.1`, `1e+21`, `1e-7`; both zeros are `0`.
void append_canonical_number(double value, std::string& out);

/// A finite number with a point or an exponent: `1.0`, `0.1`, `1e+15`, `1e-05`, `-0.0`.
void append_point_number(double value, std::string& out);

/// A finite number in as few characters as possible: `1`, `0.1`, `1e+05`, `-0`.
void append_shortest_number(double value, std::string& out);

}  // namespace tenon
