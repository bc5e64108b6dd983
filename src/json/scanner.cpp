#include "json/scanner.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "base/utf8.h"
#include "json/text.h"

namespace tenon {
namespace {

/// What an error shows of the text at its place.
constexpr std::size_t shown_bytes_max = 24;

bool begins_name(char c) {
  return is_letter(c) || c == '_' || c == '$';
}
bool continues_name(char c) {
  return begins_name(c) || is_digit(c) || c == '-';
}

/// Whether a number too large or too small for a double is too small. `digits` is a JSON number without its sign.
bool is_tiny(std::string_view digits) {
  const std::size_t exponent_at = digits.find_first_of("eE");
  const std::string_view mantissa = digits.substr(0, exponent_at);
  const std::size_t point = std::min(mantissa.find('.'), mantissa.size());
  const std::size_t first = mantissa.find_first_of("123456789");
  if (first == std::string_view::npos) return true;
  long exponent = 0;
  if (exponent_at != std::string_view::npos) {
    std::string_view text = digits.substr(exponent_at + 1);
    const bool is_negative = text.front() == '-';
    if (text.front() == '-' || text.front() == '+') text.remove_prefix(1);
    if (std::from_chars(text.data(), text.data() + text.size(), exponent).ec != std::errc{}) return is_negative;
    if (is_negative) exponent = -exponent;
  }
  const long magnitude = static_cast<long>(point) - static_cast<long>(first);
  return magnitude + exponent < 0;
}

/// The position of the first byte from `at` on that is the quote, a backslash or a control character.
std::size_t find_special(std::string_view text, std::size_t at, char quote) {
  static_assert(std::endian::native == std::endian::little, "the first byte is the lowest");
  constexpr std::uint64_t ones = 0x0101010101010101U;
  constexpr std::uint64_t high_bits = 0x8080808080808080U;
  while (text.size() - at >= sizeof(std::uint64_t)) {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, text.data() + at, sizeof bytes);
    // The lowest mark is exact: a borrow only reaches the bytes above it.
    const auto marks_of = [&](char wanted) {
      const std::uint64_t difference = bytes ^ (ones * static_cast<unsigned char>(wanted));
      return (difference - ones) & ~difference;
    };
    const std::uint64_t control = (bytes - ones * 0x20) & ~bytes;
    const std::uint64_t marks = (marks_of(quote) | marks_of('\\') | control) & high_bits;
    if (marks != 0) return at + static_cast<unsigned>(std::countr_zero(marks)) / 8;
    at += sizeof bytes;
  }
  while (at < text.size() && text[at] != quote && text[at] != '\\' && static_cast<unsigned char>(text[at]) >= 0x20U)
    ++at;
  return at;
}

}  // namespace

bool JsonCursor::stop(JsonProblem problem, std::string found, std::string_view expected) {
  error_ = make_json_error(problem, at_, std::move(found), expected);
  return false;
}

bool JsonCursor::stop_expecting(std::string_view expected) {
  if (at_ >= text_.size()) return stop_at_end();
  return stop(JsonProblem::Unexpected, shown(at_), expected);
}

bool JsonCursor::stop_at_end() {
  return stop(text_.empty() ? JsonProblem::EmptyText : JsonProblem::UnexpectedEnd);
}

std::string JsonCursor::shown(std::size_t from) const {
  std::string_view piece = cut_utf8(text_.substr(from), shown_bytes_max);
  piece = piece.substr(0, piece.find('\n', 1));
  return make_json_string(piece);
}

bool JsonCursor::enter() {
  if (++depth_ <= limits_.depth_max) return true;
  is_committed_ = true;
  return stop(JsonProblem::TooDeep, std::to_string(limits_.depth_max));
}

bool JsonCursor::stop_at_node() {
  return stop(JsonProblem::TooManyValues);
}

bool JsonCursor::skip_comments() {
  for (;;) {
    const std::string_view rest = text_.substr(at_);
    if (rest.starts_with("//") || rest.starts_with('#')) {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (rest.starts_with("/*")) {
      const std::size_t end = text_.find("*/", at_ + 2);
      if (end == std::string_view::npos) {
        at_ = text_.size();
        return stop_at_end();
      }
      at_ = end + 2;
    } else {
      return true;
    }
    while (at_ < text_.size() && is_white_space(text_[at_])) ++at_;
  }
}

std::optional<std::string_view> JsonCursor::parse_other_key() {
  if (at_ == text_.size()) {
    stop_at_end();
    return std::nullopt;
  }
  const char c = text_[at_];
  if (c == '\'' && is_lenient()) return parse_string();
  if (is_lenient() && begins_name(c)) {
    const std::size_t begin = at_;
    while (at_ < text_.size() && continues_name(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }
  stop_expecting("a key in quotes");
  return std::nullopt;
}

std::optional<std::string_view> JsonCursor::parse_long_string() {
  const char quote = text_[at_++];
  std::size_t begin = at_;
  bool is_whole = true;  // no escape so far: the string is a piece of the text
  for (;;) {
    at_ = find_special(text_, at_, quote);
    if (at_ == text_.size()) {
      stop_at_end();
      return std::nullopt;
    }
    const std::string_view piece = text_.substr(begin, at_ - begin);
    const char c = text_[at_];
    if (c == quote) {
      ++at_;
      if (is_whole) return piece;
      scratch_ += piece;
      return scratch_;
    }
    if (is_whole) scratch_.clear();
    is_whole = false;
    scratch_ += piece;
    if (c == '\\') {
      if (!parse_escape()) return std::nullopt;
    } else if (is_lenient() && (c == '\n' || c == '\t' || c == '\r')) {
      scratch_ += c;
      ++at_;
    } else {
      stop(JsonProblem::ControlCharacter, fmt::format("U+{:04X}", static_cast<unsigned>(c)));
      return std::nullopt;
    }
    begin = at_;
  }
}

bool JsonCursor::parse_escape() {
  if (at_ + 1 >= text_.size()) {
    at_ = text_.size();
    return stop_at_end();
  }
  const char c = text_[at_ + 1];
  constexpr std::string_view letters = "\"\\/bfnrt";
  constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
  if (const std::size_t index = letters.find(c); index != std::string_view::npos) {
    scratch_ += meanings[index];
  } else if (c == '\'' && is_lenient()) {
    scratch_ += c;
  } else if (c == 'u') {
    return parse_unicode_escape();
  } else {
    return stop(JsonProblem::UnknownEscape, shown(at_));
  }
  at_ += 2;
  return true;
}

/// The four hexadecimal digits after `\u` at `at_`.
std::optional<std::uint32_t> JsonCursor::parse_code_unit() {
  if (text_.size() - at_ < 6) {
    const std::string_view rest = text_.substr(at_);
    if (rest.find_first_not_of("\\u0123456789abcdefABCDEF") == std::string_view::npos) {
      at_ = text_.size();
      stop_at_end();
      return std::nullopt;
    }
  }
  const std::string_view digits = text_.substr(at_ + 2, 4);
  std::uint32_t unit = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), unit, 16);
  if (error != std::errc{} || end != digits.data() + 4) {
    stop(JsonProblem::IncompleteUnicodeEscape, shown(at_));
    return std::nullopt;
  }
  return unit;
}

bool JsonCursor::parse_unicode_escape() {
  const std::optional<std::uint32_t> unit = parse_code_unit();
  if (!unit) return false;
  std::uint32_t code_point = *unit;
  if (code_point >= 0xD800U && code_point <= 0xDFFFU) {
    const std::size_t begin = at_;
    at_ += 6;
    std::optional<std::uint32_t> low;
    if (code_point < 0xDC00U && text_.substr(at_).starts_with("\\u")) {
      low = parse_code_unit();
      if (!low) return false;
    }
    if (!low || *low < 0xDC00U || *low > 0xDFFFU) {
      at_ = begin;
      if (!keeps_halves_) return stop(JsonProblem::HalfSurrogate, shown(begin));
      append_half_surrogate(scratch_, code_point);
      at_ += 6;
      return true;
    }
    code_point = 0x10000U + ((code_point - 0xD800U) << 10U) + (*low - 0xDC00U);
  }
  append_utf8(scratch_, code_point);
  at_ += 6;
  return true;
}

std::optional<JsonCursor::Number> JsonCursor::parse_number() {
  const std::size_t begin = at_;
  const auto take_digits = [this] {
    const std::size_t from = at_;
    while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
    return at_ - from;
  };
  const auto stopped = [&] {
    stop_at_number(begin);
    return std::nullopt;
  };
  const bool has_sign = text_[at_] == '-' || text_[at_] == '+';
  const bool has_plus = text_[at_] == '+';
  if (has_sign) ++at_;
  const std::size_t whole_at = at_;
  const std::size_t whole = take_digits();
  std::size_t fraction = 0;
  bool has_point = false;
  Number number;
  if (at_ < text_.size() && text_[at_] == '.') {
    has_point = true;
    number.is_integer = false;
    ++at_;
    fraction = take_digits();
  }
  const std::size_t mantissa_end = at_;
  const bool lacks_digits = whole == 0 || (has_point && fraction == 0);
  if (whole > 1 && text_[whole_at] == '0') {
    at_ = begin;
    stop(JsonProblem::LeadingZero, shown(begin));
    return std::nullopt;
  }
  if ((whole == 0 && fraction == 0) || (lacks_digits && !is_lenient())) return stopped();
  if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
    number.is_integer = false;
    ++at_;
    if (at_ < text_.size() && (text_[at_] == '-' || text_[at_] == '+')) ++at_;
    if (take_digits() == 0) return stopped();
  }
  if (at_ < text_.size() && (continues_name(text_[at_]) || text_[at_] == '.')) return stopped();
  number.text = text_.substr(begin, at_ - begin);
  if (!lacks_digits && !has_plus) return number;
  // As JSON writes it: without a plus, and with digits on both sides of the point.
  scratch_ = has_sign && !has_plus ? "-" : "";
  scratch_ += whole == 0 ? "0" : text_.substr(whole_at, whole);
  if (fraction > 0) scratch_.append(".").append(text_.substr(mantissa_end - fraction, fraction));
  scratch_ += text_.substr(mantissa_end, at_ - mantissa_end);
  number.text = scratch_;
  return number;
}

bool JsonCursor::stop_at_number(std::size_t begin) {
  if (at_ == text_.size()) return stop_at_end();
  at_ = begin;
  const std::string_view rest = text_.substr(begin);
  if (rest.starts_with("-Infinity") || rest.starts_with("-NaN") || rest.starts_with("+Infinity"))
    return stop_at_non_finite();
  return stop(JsonProblem::NotANumber, shown(begin));
}

bool JsonCursor::stop_at_non_finite() {
  return stop(JsonProblem::NotFinite, shown(at_));
}

std::optional<double> JsonCursor::round_extreme(std::string_view digits) {
  const bool is_negative = digits.front() == '-';
  if (!is_tiny(digits.substr(is_negative ? 1 : 0))) return std::nullopt;
  return is_negative ? -0.0 : 0.0;
}

bool JsonCursor::parse_word(std::optional<bool>& value) {
  const std::size_t begin = at_;
  std::size_t end = at_;
  while (end < text_.size() && continues_name(text_[end])) ++end;
  const std::string_view word = text_.substr(begin, end - begin);
  if (word.empty()) return stop_expecting("a value");
  at_ = end;
  const bool is_true = word == "true" || (is_lenient() && word == "True");
  if (is_true || word == "false" || (is_lenient() && word == "False")) {
    value = is_true;
    return true;
  }
  if (word == "null" || (is_lenient() && word == "None")) return true;
  constexpr std::pair<std::string_view, std::string_view> spellings[] = {
      {"True", "true"}, {"False", "false"}, {"None", "null"}};
  const auto is_cut = [&](std::string_view known) { return end == text_.size() && known.starts_with(word); };
  for (const auto& [other, known] : spellings) {
    if (is_cut(known) || (is_lenient() && is_cut(other))) return stop_at_end();
  }
  at_ = begin;
  for (const auto& [other, known] : spellings) {
    if (word != other) continue;
    return stop(JsonProblem::OtherSpelling, std::string(other), known);
  }
  if (word == "NaN" || word == "Infinity" || word == "nan" || word == "inf") return stop_at_non_finite();
  if (word == "undefined") return stop(JsonProblem::Undefined);
  return stop(JsonProblem::UnknownWord, shown(begin));
}

std::string shown_key(std::string_view name) {
  return make_json_string(cut_utf8(name, shown_bytes_max));
}

std::optional<JsonError> check_json_bytes(std::string_view text, const JsonLimits& limits) {
  if (text.size() > limits.bytes_max) {
    return make_json_error(JsonProblem::TooLong, 0, std::to_string(limits.bytes_max));
  }
  if (const std::size_t bad = find_invalid_utf8(text); bad != std::string_view::npos) {
    return make_json_error(JsonProblem::NotUtf8, bad, std::to_string(bad));
  }
  return std::nullopt;
}

}  // namespace tenon
