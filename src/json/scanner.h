#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/ascii.h"
#include "base/utf8.h"
#include "json/reader.h"

namespace tenon {

enum class JsonDialect : std::uint8_t {
  Strict,   ///< RFC 8259
  Lenient,  ///< see json/lenient_reader.h
};

/// The text and the position of a JsonScanner, and what does not depend on its handler.
class JsonCursor {
 public:
  JsonCursor(std::string_view text, std::size_t at, JsonDialect dialect, const JsonLimits& limits)
      : text_(text), at_(at), dialect_(dialect), limits_(limits) {}

  [[nodiscard]] std::size_t at() const { return at_; }
  /// Half of a surrogate pair in an escape is not an error from now on: texts have it as append_half_surrogate writes
  /// it (base/utf8.h).
  void keep_half_surrogates() { keeps_halves_ = true; }
  /// Enough was read to know that this was meant as JSON and not as prose: a key with its colon, or an item with its
  /// comma.
  [[nodiscard]] bool is_committed() const { return is_committed_; }
  [[nodiscard]] JsonError take_error() { return std::move(error_); }

  /// Skips white space, and in the lenient dialect comments. False when a comment does not end.
  bool skip_space() {
    while (at_ < text_.size() && is_white_space(text_[at_])) ++at_;
    return dialect_ == JsonDialect::Strict || skip_comments();
  }

  // Each of these notes the error and returns false.
  bool stop(JsonProblem problem, std::string found = {}, std::string_view expected = {});
  bool stop_expecting(std::string_view expected);
  bool stop_at_end();

 protected:
  struct Number {
    std::string_view text;  ///< as JSON writes it
    bool is_integer = true;
  };

  [[nodiscard]] bool is_lenient() const { return dialect_ == JsonDialect::Lenient; }
  [[nodiscard]] static bool is_white_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
  /// The text at a position, as messages show it.
  [[nodiscard]] std::string shown(std::size_t from) const;

  /// Whether the byte is itself within a string with these quotes.
  [[nodiscard]] static bool is_plain(char c, char quote) {
    return c != quote && c != '\\' && static_cast<unsigned char>(c) >= 0x20U;
  }

  bool enter();
  void leave() { --depth_; }
  bool count_node() { return ++nodes_ <= limits_.nodes_max || stop_at_node(); }
  bool stop_at_node();
  bool take(char wanted) {
    if (at_ >= text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }
  bool skip_comments();

  // The text is valid until the next string, key or number is read.
  std::optional<std::string_view> parse_string() {
    const char quote = text_[at_];
    const std::size_t begin = at_ + 1;
    // Most strings are short names without escapes.
    const std::size_t end = std::min(text_.size(), begin + short_bytes_max);
    std::size_t at = begin;
    while (at < end && is_plain(text_[at], quote)) ++at;
    if (at == end || text_[at] != quote) return parse_long_string();
    at_ = at + 1;
    return text_.substr(begin, at - begin);
  }
  std::optional<std::string_view> parse_key() {
    if (at_ < text_.size() && text_[at_] == '"') return parse_string();
    return parse_other_key();
  }
  std::optional<Number> parse_number();
  /// `true`, `false` or, for nothing, `null`. False after an error.
  bool parse_word(std::optional<bool>& value);

  std::optional<std::string_view> parse_long_string();
  std::optional<std::string_view> parse_other_key();
  bool parse_escape();
  bool parse_unicode_escape();
  std::optional<std::uint32_t> parse_code_unit();
  bool stop_at_number(std::size_t begin);
  bool stop_at_non_finite();
  /// The double of a JSON number that is too large or too small for from_chars.
  std::optional<double> round_extreme(std::string_view digits);

  static constexpr std::size_t short_bytes_max = 24;

  std::string_view text_;
  std::size_t at_;
  JsonDialect dialect_;
  JsonLimits limits_;
  std::size_t depth_ = 0;
  std::size_t nodes_ = 0;
  bool is_committed_ = false;
  bool keeps_halves_ = false;
  std::string scratch_;
  JsonError error_;
};

/// One pass over a text, which reports what it finds to a handler with these functions:
///
///     void null(); void boolean(bool); void text(std::string_view);
///     void integer(std::int64_t, std::string_view digits);   // also of -0: a number
///     void large(std::uint64_t, std::string_view digits);    // an integer above INT64_MAX
///     void number(double, std::string_view digits);
///     void begin_list(); void end_list(); void begin_object(); void end_object();
///     bool key(std::string_view);                            // false: the key was given before
///
/// Texts are valid during the call. Recursion is bounded by the limits.
template <class Handler>
class JsonScanner : public JsonCursor {
 public:
  JsonScanner(std::string_view text, std::size_t at, JsonDialect dialect, const JsonLimits& limits, Handler& handler)
      : JsonCursor(text, at, dialect, limits), handler_(handler) {}

  /// Reads one value, without the space around it. After a false, `take_error` returns the reason.
  bool scan_value() {
    if (!count_node()) return false;
    if (at_ == text_.size()) return stop_at_end();
    const char c = text_[at_];
    if (c == '{') return scan_object();
    if (c == '[') return scan_list();
    if (c == '"' || (c == '\'' && is_lenient())) {
      const auto string = parse_string();
      if (string) handler_.text(*string);
      return string.has_value();
    }
    if (is_digit(c) || c == '-' || (is_lenient() && (c == '+' || c == '.'))) return scan_number();
    std::optional<bool> value;
    if (!parse_word(value)) return false;
    value ? handler_.boolean(*value) : handler_.null();
    return true;
  }

  /// Reads the whole text as one value with white space around it. A byte order mark before it is skipped, as RFC 8259
  /// allows.
  bool scan_document() {
    if (at_ == 0 && text_.starts_with(byte_order_mark)) at_ = byte_order_mark.size();
    skip_space();
    if (!scan_value()) return false;
    skip_space();
    return at_ == text_.size() || stop(JsonProblem::TrailingText, shown(at_));
  }

 private:
  bool scan_object() {
    if (!enter()) return false;
    ++at_;
    handler_.begin_object();
    if (!skip_space()) return false;
    while (!take('}')) {
      const std::size_t key_at = at_;
      const auto name = parse_key();
      if (!name || !skip_space()) return false;
      if (!take(':')) return stop_expecting("a `:`");
      is_committed_ = true;
      if (!handler_.key(*name)) return stop_at_known_key(key_at, *name);
      if (!skip_space() || !scan_value() || !skip_space()) return false;
      if (take('}')) break;
      if (!take(',')) return stop_expecting("a `,` or `}`");
      if (!skip_space()) return false;
      if (!is_lenient() && at_ < text_.size() && text_[at_] == '}') return stop_expecting("a key");
    }
    leave();
    handler_.end_object();
    return true;
  }

  bool scan_list() {
    if (!enter()) return false;
    ++at_;
    handler_.begin_list();
    if (!skip_space()) return false;
    while (!take(']')) {
      if (!scan_value() || !skip_space()) return false;
      if (take(']')) break;
      if (!take(',')) return stop_expecting("a `,` or `]`");
      is_committed_ = true;
      if (!skip_space()) return false;
      if (!is_lenient() && at_ < text_.size() && text_[at_] == ']') return stop_expecting("a value");
    }
    leave();
    handler_.end_list();
    return true;
  }

  /// An integer that 64 bits cannot hold, and the negative zero, become doubles.
  bool scan_number() {
    const std::size_t begin = at_;
    const auto parsed = parse_number();
    if (!parsed) return false;
    const std::string_view digits = parsed->text;
    const char* const first = digits.data();
    const char* const last = first + digits.size();
    if (parsed->is_integer && digits != "-0") {
      std::int64_t integer = 0;
      if (std::from_chars(first, last, integer).ec == std::errc{}) {
        handler_.integer(integer, digits);
        return true;
      }
      std::uint64_t large = 0;
      if (digits.front() != '-' && std::from_chars(first, last, large).ec == std::errc{}) {
        handler_.large(large, digits);
        return true;
      }
    }
    double number = 0;
    if (std::from_chars(first, last, number).ec != std::errc{}) {
      const auto rounded = round_extreme(digits);
      if (!rounded) {
        at_ = begin;
        return stop(JsonProblem::TooLargeNumber, shown(begin));
      }
      number = *rounded;
    }
    handler_.number(number, digits);
    return true;
  }

  bool stop_at_known_key(std::size_t at, std::string_view name);

  Handler& handler_;
};

/// A key as messages show it: in quotes, with a long name cut.
[[nodiscard]] std::string shown_key(std::string_view name);

template <class Handler>
bool JsonScanner<Handler>::stop_at_known_key(std::size_t at, std::string_view name) {
  std::string key = shown_key(name);
  at_ = at;
  return stop(JsonProblem::KnownKey, std::move(key));
}

/// Whether a text's bytes can be read at all: their number, and that they are UTF-8.
[[nodiscard]] std::optional<JsonError> check_json_bytes(std::string_view text, const JsonLimits& limits);

}  // namespace tenon
