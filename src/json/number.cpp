#include "json/number.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "base/ensure.h"

namespace tenon {
namespace {

/// The shortest digits that are read back as the same number.
struct Digits {
  std::array<char, 24> digits{};
  int count = 0;
  int point = 0;  ///< how many digits precede the decimal point; may be negative or beyond the digits

  [[nodiscard]] std::string_view text() const { return {digits.data(), static_cast<std::size_t>(count)}; }
};

/// `value` is finite and above 0.
Digits find_digits(double value) {
  std::array<char, 32> buffer{};
  const auto written =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::scientific);
  const std::string_view text(buffer.data(), static_cast<std::size_t>(written.ptr - buffer.data()));
  const std::size_t mark = text.find('e');
  Digits result;
  for (const char character : text.substr(0, mark)) {
    if (character != '.') result.digits[static_cast<std::size_t>(result.count++)] = character;
  }
  int exponent = 0;
  const std::size_t sign = text[mark + 1] == '+' ? 1 : 0;
  std::from_chars(text.data() + mark + 1 + sign, text.data() + text.size(), exponent);
  result.point = exponent + 1;
  return result;
}

/// With at most one digit before the point, and an exponent of at least so many digits.
void append_scientific(const Digits& digits, std::size_t exponent_digits_min, std::string& out) {
  const std::string_view text = digits.text();
  out += text[0];
  if (text.size() > 1) out.append(".").append(text.substr(1));
  const int exponent = digits.point - 1;
  const std::string shown = std::to_string(std::abs(exponent));
  out += exponent < 0 ? "e-" : "e+";
  if (shown.size() < exponent_digits_min) out.append(exponent_digits_min - shown.size(), '0');
  out += shown;
}

void append_fixed(const Digits& digits, std::string& out) {
  const std::string_view text = digits.text();
  if (digits.point <= 0) {
    out.append("0.").append(static_cast<std::size_t>(-digits.point), '0').append(text);
  } else if (digits.count <= digits.point) {
    out.append(text).append(static_cast<std::size_t>(digits.point - digits.count), '0');
  } else {
    const auto whole = static_cast<std::size_t>(digits.point);
    out.append(text.substr(0, whole)).append(".").append(text.substr(whole));
  }
}

}  // namespace

void append_canonical_number(double value, std::string& out) {
  ENSURE(std::isfinite(value));
  if (value == 0) {
    out += '0';
    return;
  }
  if (value < 0) out += '-';
  const Digits digits = find_digits(std::fabs(value));
  if (digits.point > 21 || digits.point <= -6) return append_scientific(digits, 1, out);
  append_fixed(digits, out);
}

void append_point_number(double value, std::string& out) {
  ENSURE(std::isfinite(value));
  if (std::signbit(value)) out += '-';
  if (value == 0) {
    out += "0.0";
    return;
  }
  const Digits digits = find_digits(std::fabs(value));
  if (digits.point > 15 || digits.point <= -4) return append_scientific(digits, 2, out);
  append_fixed(digits, out);
  if (digits.count <= digits.point) out += ".0";
}

void append_shortest_number(double value, std::string& out) {
  ENSURE(std::isfinite(value));
  std::array<char, 32> buffer{};
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  ENSURE(error == std::errc{});
  out.append(buffer.data(), end);
}

}  // namespace tenon
