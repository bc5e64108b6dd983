#include "inference/answers/json_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <unordered_set>

#include "base/ascii.h"
#include "base/json_text.h"
#include "base/utf8.h"

namespace tenon::inference::answers {
namespace {

constexpr std::string_view white_space = " \t\r\n";
/// What an error shows of the text at its place.
constexpr std::size_t shown_bytes_max = 24;
/// From this many members on, keys are looked up in a set instead of compared one by one.
constexpr std::size_t members_compared_max = 16;
/// How often the search for a value may read the text again before it gives up.
constexpr std::size_t search_rounds_max = 8;
constexpr std::size_t search_bytes_min = 65'536;

enum class Dialect : std::uint8_t { Strict, Lenient };

bool begins_name(char c) {
  return is_letter(c) || c == '_' || c == '$';
}
bool continues_name(char c) {
  return begins_name(c) || is_digit(c) || c == '-';
}

void append_utf8(std::string& out, std::uint32_t code_point) {
  const auto add = [&out](std::uint32_t byte) { out += static_cast<char>(static_cast<unsigned char>(byte)); };
  if (code_point < 0x80U) {
    add(code_point);
  } else if (code_point < 0x800U) {
    add(0xC0U | (code_point >> 6U));
    add(0x80U | (code_point & 0x3FU));
  } else if (code_point < 0x10000U) {
    add(0xE0U | (code_point >> 12U));
    add(0x80U | ((code_point >> 6U) & 0x3FU));
    add(0x80U | (code_point & 0x3FU));
  } else {
    add(0xF0U | (code_point >> 18U));
    add(0x80U | ((code_point >> 12U) & 0x3FU));
    add(0x80U | ((code_point >> 6U) & 0x3FU));
    add(0x80U | (code_point & 0x3FU));
  }
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

/// One pass over a text from a given place. Recursion is bounded by `json_depth_max`.
class Parser {
 public:
  Parser(std::string_view text, std::size_t at, Dialect dialect) : text_(text), at_(at), dialect_(dialect) {}

  std::optional<Json> parse_value() {
    if (++nodes_ > json_nodes_max) return stop(ParseErrorKind::TooLarge, "the value has too many parts");
    if (at_ == text_.size()) return stop_at_end();
    const char c = text_[at_];
    if (c == '{') return parse_object();
    if (c == '[') return parse_array();
    if (c == '"' || (c == '\'' && is_lenient())) {
      std::optional<std::string> string = parse_string();
      if (!string) return std::nullopt;
      return Json::string(*string);
    }
    if (is_digit(c) || c == '-' || (is_lenient() && (c == '+' || c == '.'))) return parse_number();
    return parse_word();
  }

  /// False when a comment does not end.
  bool skip_space() {
    for (;;) {
      at_ = std::min(text_.find_first_not_of(white_space, at_), text_.size());
      if (!is_lenient()) return true;
      const std::string_view rest = text_.substr(at_);
      if (rest.starts_with("//") || rest.starts_with('#')) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (rest.starts_with("/*")) {
        const std::size_t end = text_.find("*/", at_ + 2);
        if (end == std::string_view::npos) {
          at_ = text_.size();
          stop_at_end();
          return false;
        }
        at_ = end + 2;
      } else {
        return true;
      }
    }
  }

  [[nodiscard]] std::size_t at() const { return at_; }
  /// Enough was read to know that this was meant as JSON and not as prose: a key with its colon, or an item with its
  /// comma.
  [[nodiscard]] bool is_committed() const { return is_committed_; }
  [[nodiscard]] ParseError take_error() { return std::move(error_); }

  std::nullopt_t stop(ParseErrorKind kind, std::string message) {
    error_ = {kind, at_, std::move(message)};
    return std::nullopt;
  }
  std::nullopt_t stop_expecting(std::string_view wanted) {
    if (at_ >= text_.size()) return stop_at_end();
    return stop(ParseErrorKind::Syntax, fmt::format("{} is missing before {}", wanted, shown(at_)));
  }
  std::nullopt_t stop_at_end() {
    return stop(ParseErrorKind::CutOff, text_.empty() ? "the text is empty" : "the text ends in the middle of a value");
  }

 private:
  [[nodiscard]] bool is_lenient() const { return dialect_ == Dialect::Lenient; }

  [[nodiscard]] std::string shown(std::size_t from) const {
    std::string_view piece = cut_utf8(text_.substr(from), shown_bytes_max);
    piece = piece.substr(0, piece.find('\n', 1));
    return make_json_string(piece);
  }

  bool enter() {
    if (++depth_ <= json_depth_max) return true;
    is_committed_ = true;
    stop(ParseErrorKind::TooDeep, fmt::format("lists and objects are nested deeper than {}", json_depth_max));
    return false;
  }

  std::optional<Json> parse_object() {
    if (!enter()) return std::nullopt;
    ++at_;
    Json object = Json::object();
    std::unordered_set<std::string> names;
    if (!skip_space()) return std::nullopt;
    while (!take('}')) {
      const std::size_t key_at = at_;
      std::optional<std::string> name = parse_key();
      if (!name || !skip_space()) return std::nullopt;
      if (!take(':')) return stop_expecting("a `:`");
      is_committed_ = true;
      if (is_known(object, names, *name)) {
        at_ = key_at;
        return stop(ParseErrorKind::Refused,
                    fmt::format("the key {} is given twice", make_json_string(cut_utf8(*name, shown_bytes_max))));
      }
      if (!skip_space()) return std::nullopt;
      std::optional<Json> value = parse_value();
      if (!value) return std::nullopt;
      object.set(*name, std::move(*value));
      if (!skip_space()) return std::nullopt;
      if (take('}')) break;
      if (!take(',')) return stop_expecting("a `,` or `}`");
      if (!skip_space()) return std::nullopt;
      if (!is_lenient() && at_ < text_.size() && text_[at_] == '}') return stop_expecting("a key");
    }
    --depth_;
    return object;
  }

  std::optional<Json> parse_array() {
    if (!enter()) return std::nullopt;
    ++at_;
    Json array = Json::array();
    if (!skip_space()) return std::nullopt;
    while (!take(']')) {
      std::optional<Json> value = parse_value();
      if (!value) return std::nullopt;
      array.mutable_items().push_back(std::move(*value));
      if (!skip_space()) return std::nullopt;
      if (take(']')) break;
      if (!take(',')) return stop_expecting("a `,` or `]`");
      is_committed_ = true;
      if (!skip_space()) return std::nullopt;
      if (!is_lenient() && at_ < text_.size() && text_[at_] == ']') return stop_expecting("a value");
    }
    --depth_;
    return array;
  }

  static bool is_known(const Json& object, std::unordered_set<std::string>& names, const std::string& name) {
    const Json::Object& members = object.members();
    if (members.size() < members_compared_max) return object.find(name) != nullptr;
    if (names.empty()) {
      for (const JsonMember& member : members) names.insert(member.name);
    }
    return !names.insert(name).second;
  }

  bool take(char wanted) {
    if (at_ >= text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }

  std::optional<std::string> parse_key() {
    if (at_ == text_.size()) return stop_at_end();
    const char c = text_[at_];
    if (c == '"' || (c == '\'' && is_lenient())) return parse_string();
    if (is_lenient() && begins_name(c)) {
      const std::size_t begin = at_;
      while (at_ < text_.size() && continues_name(text_[at_])) ++at_;
      return std::string(text_.substr(begin, at_ - begin));
    }
    return stop_expecting("a key in quotes");
  }

  std::optional<std::string> parse_string() {
    const char quote = text_[at_++];
    std::string string;
    const std::string_view specials = quote == '"' ? "\"\\" : "'\\";
    for (;;) {
      std::size_t end = at_;
      while (end < text_.size() && static_cast<unsigned char>(text_[end]) >= 0x20U &&
             specials.find(text_[end]) == std::string_view::npos)
        ++end;
      string.append(text_.substr(at_, end - at_));
      at_ = end;
      if (at_ == text_.size()) return stop_at_end();
      const char c = text_[at_];
      if (c == quote) {
        ++at_;
        return string;
      }
      if (c == '\\') {
        if (!parse_escape(string)) return std::nullopt;
      } else if (is_lenient() && (c == '\n' || c == '\t' || c == '\r')) {
        string += c;
        ++at_;
      } else {
        return stop(ParseErrorKind::Syntax,
                    fmt::format("a string holds the control character U+{:04X}; write it as an escape",
                                static_cast<unsigned>(c)));
      }
    }
  }

  bool parse_escape(std::string& string) {
    if (at_ + 1 >= text_.size()) {
      at_ = text_.size();
      stop_at_end();
      return false;
    }
    const char c = text_[at_ + 1];
    constexpr std::string_view letters = "\"\\/bfnrt";
    constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
    if (const std::size_t index = letters.find(c); index != std::string_view::npos) {
      string += meanings[index];
    } else if (c == '\'' && is_lenient()) {
      string += c;
    } else if (c == 'u') {
      return parse_unicode_escape(string);
    } else {
      stop(ParseErrorKind::Syntax, fmt::format("{} is no escape; a backslash itself is written `\\\\`", shown(at_)));
      return false;
    }
    at_ += 2;
    return true;
  }

  /// The four hexadecimal digits after `\u` at `at_`.
  std::optional<std::uint32_t> parse_unit() {
    if (text_.size() - at_ < 6) {
      const std::string_view rest = text_.substr(at_);
      if (rest.find_first_not_of("\\u0123456789abcdefABCDEF") == std::string_view::npos) {
        at_ = text_.size();
        return stop_at_end();
      }
    }
    const std::string_view digits = text_.substr(at_ + 2, 4);
    std::uint32_t unit = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), unit, 16);
    if (error != std::errc{} || end != digits.data() + 4) {
      return stop(ParseErrorKind::Syntax,
                  fmt::format("{} is no escape; `\\u` wants four hexadecimal digits", shown(at_)));
    }
    return unit;
  }

  bool parse_unicode_escape(std::string& string) {
    std::optional<std::uint32_t> unit = parse_unit();
    if (!unit) return false;
    std::uint32_t code_point = *unit;
    if (code_point >= 0xD800U && code_point <= 0xDFFFU) {
      const std::size_t begin = at_;
      at_ += 6;
      std::optional<std::uint32_t> low;
      if (code_point < 0xDC00U && text_.substr(at_).starts_with("\\u")) {
        low = parse_unit();
        if (!low) return false;
      }
      if (!low || *low < 0xDC00U || *low > 0xDFFFU) {
        at_ = begin;
        stop(ParseErrorKind::Refused, fmt::format("{} is half of a surrogate pair and no character", shown(begin)));
        return false;
      }
      code_point = 0x10000U + ((code_point - 0xD800U) << 10U) + (*low - 0xDC00U);
    }
    append_utf8(string, code_point);
    at_ += 6;
    return true;
  }

  std::optional<Json> parse_number() {
    const std::size_t begin = at_;
    const bool is_negative = text_[at_] == '-';
    if (text_[at_] == '-' || text_[at_] == '+') ++at_;
    const auto take_digits = [this] {
      const std::size_t from = at_;
      while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
      return at_ - from;
    };
    std::string digits = is_negative ? "-" : "";
    const std::size_t whole_at = at_;
    const std::size_t whole = take_digits();
    digits += whole == 0 ? "0" : text_.substr(whole_at, whole);
    std::size_t fraction = 0;
    bool has_point = false;
    bool is_integer = true;
    if (at_ < text_.size() && text_[at_] == '.') {
      has_point = true;
      is_integer = false;
      ++at_;
      const std::size_t fraction_at = at_;
      fraction = take_digits();
      if (fraction > 0) digits.append(".").append(text_.substr(fraction_at, fraction));
    }
    const bool lacks_digits = whole == 0 || (has_point && fraction == 0);
    if (whole > 1 && text_[whole_at] == '0') {
      at_ = begin;
      return stop(ParseErrorKind::Syntax, fmt::format("a number begins with no 0: {}", shown(begin)));
    }
    const bool is_spelled_wrongly = (whole == 0 && fraction == 0) || (lacks_digits && !is_lenient());
    if (is_spelled_wrongly) return stop_at_number(begin);
    if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
      is_integer = false;
      const std::size_t exponent_at = at_++;
      if (at_ < text_.size() && (text_[at_] == '-' || text_[at_] == '+')) ++at_;
      if (take_digits() == 0) return stop_at_number(begin);
      digits += text_.substr(exponent_at, at_ - exponent_at);
    }
    if (at_ < text_.size() && (continues_name(text_[at_]) || text_[at_] == '.')) return stop_at_number(begin);
    return convert(digits, is_integer, begin);
  }

  std::nullopt_t stop_at_number(std::size_t begin) {
    if (at_ == text_.size()) return stop_at_end();
    at_ = begin;
    const std::string_view rest = text_.substr(begin);
    if (rest.starts_with("-Infinity") || rest.starts_with("-NaN") || rest.starts_with("+Infinity"))
      return stop_at_non_finite();
    return stop(ParseErrorKind::Syntax, fmt::format("{} is no JSON number", shown(begin)));
  }

  std::nullopt_t stop_at_non_finite() {
    return stop(ParseErrorKind::Refused, fmt::format("{} is no JSON number; numbers are finite", shown(at_)));
  }

  /// `digits` is a JSON number. An integer that i64 does not hold, and the negative zero, become doubles.
  std::optional<Json> convert(const std::string& digits, bool is_integer, std::size_t begin) {
    const char* const first = digits.data();
    const char* const last = first + digits.size();
    if (is_integer && digits != "-0") {
      std::int64_t integer = 0;
      if (std::from_chars(first, last, integer).ec == std::errc{}) return Json::integer(integer);
    }
    double number = 0;
    if (std::from_chars(first, last, number).ec == std::errc{}) return Json::number(number);
    const bool is_negative = digits.front() == '-';
    if (is_tiny(std::string_view(digits).substr(is_negative ? 1 : 0))) return Json::number(is_negative ? -0.0 : 0.0);
    at_ = begin;
    return stop(ParseErrorKind::Refused, fmt::format("the number {} is larger than an f64 can be", shown(begin)));
  }

  std::optional<Json> parse_word() {
    const std::size_t begin = at_;
    std::size_t end = at_;
    while (end < text_.size() && continues_name(text_[end])) ++end;
    const std::string_view word = text_.substr(begin, end - begin);
    if (word.empty()) return stop_expecting("a value");
    at_ = end;
    if (word == "true" || (is_lenient() && word == "True")) return Json::boolean(true);
    if (word == "false" || (is_lenient() && word == "False")) return Json::boolean(false);
    if (word == "null" || (is_lenient() && word == "None")) return Json();
    constexpr std::pair<std::string_view, std::string_view> spellings[] = {
        {"True", "true"}, {"False", "false"}, {"None", "null"}};
    const auto is_cut = [&](std::string_view known) { return end == text_.size() && known.starts_with(word); };
    for (const auto& [other, known] : spellings) {
      if (is_cut(known) || (is_lenient() && is_cut(other))) return stop_at_end();
    }
    at_ = begin;
    for (const auto& [other, known] : spellings) {
      if (word != other) continue;
      return stop(ParseErrorKind::Syntax, fmt::format("`{}` is no JSON value; it is written `{}`", other, known));
    }
    if (word == "NaN" || word == "Infinity" || word == "nan" || word == "inf") return stop_at_non_finite();
    if (word == "undefined")
      return stop(ParseErrorKind::Refused, "`undefined` is no JSON value; what is absent is `null`");
    return stop(ParseErrorKind::Syntax, fmt::format("{} is no JSON value; texts stand in quotes", shown(begin)));
  }

  std::string_view text_;
  std::size_t at_;
  Dialect dialect_;
  std::size_t depth_ = 0;
  std::size_t nodes_ = 0;
  bool is_committed_ = false;
  ParseError error_;
};

std::optional<ParseError> check_bytes(std::string_view text) {
  if (text.size() > json_bytes_max) {
    return ParseError{ParseErrorKind::TooLarge, 0, fmt::format("the text is longer than {} bytes", json_bytes_max)};
  }
  if (const std::size_t bad = find_invalid_utf8(text); bad != std::string_view::npos) {
    return ParseError{ParseErrorKind::NotUtf8, bad, fmt::format("byte {} is no UTF-8", bad)};
  }
  return std::nullopt;
}

struct Found {
  Json value;
  std::size_t end = 0;
};

/// The first object or list from `from` on that one of `openers` begins. What begins like one and is none (`{braces}`
/// in prose) is passed over, but once a key or an item was read, an error is the answer's error: an inner value is
/// never taken for the whole.
Result<Found, ParseError> find_value(std::string_view text, std::size_t from, std::string_view openers) {
  std::size_t budget = search_rounds_max * text.size() + search_bytes_min;
  ParseError last{ParseErrorKind::NoValue, 0, "there is no JSON in the text"};
  for (std::size_t at = text.find_first_of(openers, from); at != std::string_view::npos;
       at = text.find_first_of(openers, at + 1)) {
    Parser parser(text, at, Dialect::Lenient);
    if (std::optional<Json> value = parser.parse_value()) return Found{std::move(*value), parser.at()};
    ParseError error = parser.take_error();
    if (parser.is_committed()) return failure(std::move(error));
    if (error.kind == ParseErrorKind::CutOff && text.find_first_of(openers, at + 1) == std::string_view::npos)
      last = std::move(error);
    const std::size_t spent = parser.at() - at + 1;
    if (spent > budget) return failure(std::move(last));
    budget -= spent;
  }
  return failure(std::move(last));
}

std::string_view skip_thoughts(std::string_view text) {
  constexpr std::string_view open = "<think>";
  constexpr std::string_view close = "</think>";
  if (!text.starts_with(open)) return text;
  const std::size_t end = text.find(close);
  return end == std::string_view::npos ? std::string_view{} : trimmed(text.substr(end + close.size()));
}

/// The inside of a text that is one code fence; any other text as it is.
std::string_view skip_fence(std::string_view text) {
  constexpr std::string_view fence = "```";
  if (text.size() < 2 * fence.size() || !text.starts_with(fence) || !text.ends_with(fence)) return text;
  const std::size_t line_end = text.find('\n');
  if (line_end == std::string_view::npos || line_end > text.size() - fence.size()) return text;
  return trimmed(text.substr(line_end, text.size() - fence.size() - line_end));
}

}  // namespace

Result<Json, ParseError> parse_json(std::string_view text) {
  if (std::optional<ParseError> error = check_bytes(text)) return failure(std::move(*error));
  Parser parser(text, 0, Dialect::Strict);
  parser.skip_space();
  std::optional<Json> value = parser.parse_value();
  if (!value) return failure(parser.take_error());
  parser.skip_space();
  if (parser.at() != text.size()) {
    parser.stop_expecting("the end");
    return failure(parser.take_error());
  }
  return std::move(*value);
}

Result<Json, ParseError> parse_lenient(std::string_view text) {
  if (std::optional<ParseError> error = check_bytes(text)) return failure(std::move(*error));
  const char* const begin = text.data();
  text = skip_fence(skip_thoughts(trimmed(text)));
  const auto skipped = static_cast<std::size_t>(text.empty() ? 0 : text.data() - begin);
  if (text.empty()) return failure(ParseError{ParseErrorKind::NoValue, 0, "the answer is empty"});
  const auto at_origin = [skipped](ParseError error) {
    error.offset += skipped;
    return failure(std::move(error));
  };

  ParseError scalar_error;
  if (text.front() != '{' && text.front() != '[') {
    Parser parser(text, 0, Dialect::Lenient);
    if (std::optional<Json> value = parser.parse_value()) {
      if (parser.skip_space() && parser.at() == text.size()) return std::move(*value);
    }
    scalar_error = parser.take_error();
  }
  Result<Found, ParseError> found = find_value(text, 0, "{[");
  if (!found) {
    const bool is_telling = scalar_error.kind == ParseErrorKind::Refused || scalar_error.kind == ParseErrorKind::CutOff;
    return at_origin(found.error().kind == ParseErrorKind::NoValue && is_telling ? std::move(scalar_error)
                                                                                 : std::move(found.error()));
  }
  const std::string_view opener = found->value.is(Json::Kind::Object) ? "{" : "[";
  std::size_t end = found->end;
  for (;;) {
    Result<Found, ParseError> next = find_value(text, end, opener);
    if (!next && next.error().kind == ParseErrorKind::NoValue) return std::move(found->value);
    if (!next || !equal(next->value, found->value)) {
      return at_origin(
          {ParseErrorKind::SeveralValues, end, "there is more than one JSON value, and they differ; give one alone"});
    }
    end = next->end;
  }
}

}  // namespace tenon::inference::answers
