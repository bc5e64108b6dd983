#include "tests/support/json_schema/decimal.h"

#include <charconv>
#include <cstdint>
#include <string>

#include "base/ensure.h"

namespace tenon::test {
namespace {

__extension__ using Wide = unsigned __int128;

/// mantissa * 10^exponent, with as small a mantissa as there is.
struct Decimal {
  std::uint64_t mantissa = 0;
  std::int64_t exponent = 0;
};

Decimal strip(Decimal number) {
  while (number.mantissa != 0 && number.mantissa % 10 == 0) {
    number.mantissa /= 10;
    ++number.exponent;
  }
  return number;
}

/// The shortest decimal that reads back as the number: what was written, where it had at most 15 digits.
Decimal to_decimal(const Json& number) {
  if (number.is_integer()) {
    const std::int64_t integer = number.as_integer();
    const auto bits = static_cast<std::uint64_t>(integer);
    return strip({integer < 0 ? 0 - bits : bits, 0});
  }
  char text[32];
  const auto [end, error] = std::to_chars(text, text + sizeof text, number.as_double(), std::chars_format::scientific);
  ENSURE(error == std::errc{});
  Decimal result;
  const char* at = text;
  bool is_fraction = false;
  for (; at != end && *at != 'e'; ++at) {
    if (*at == '.') {
      is_fraction = true;
    } else if (*at != '-') {
      result.mantissa = result.mantissa * 10 + static_cast<std::uint64_t>(*at - '0');
      if (is_fraction) --result.exponent;
    }
  }
  if (at != end) {
    ++at;
    if (*at == '+') ++at;
    std::int64_t exponent = 0;
    std::from_chars(at, end, exponent);
    result.exponent += exponent;
  }
  return strip(result);
}

/// (base * 10^power) mod modulus.
std::uint64_t shifted_modulo(std::uint64_t base, std::int64_t power, std::uint64_t modulus) {
  Wide result = base % modulus;
  Wide factor = 10 % modulus;
  for (auto left = static_cast<std::uint64_t>(power); left != 0; left /= 2) {
    if (left % 2 == 1) result = result * factor % modulus;
    factor = factor * factor % modulus;
  }
  return static_cast<std::uint64_t>(result);
}

}  // namespace

bool is_multiple(const Json& value, const Json& divisor) {
  const Decimal a = to_decimal(value);
  const Decimal b = to_decimal(divisor);
  if (a.mantissa == 0) return true;
  const std::int64_t shift = a.exponent - b.exponent;
  // The divisor would have to divide the last digit of the value, which is not zero, by a power of ten.
  if (shift < 0) return false;
  return shifted_modulo(a.mantissa, shift, b.mantissa) == 0;
}

}  // namespace tenon::test
