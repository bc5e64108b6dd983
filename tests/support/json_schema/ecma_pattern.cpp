#include "tests/support/json_schema/ecma_pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/ascii.h"
#include "inference/decoding/text_grammar.h"

namespace tenon::test {
namespace {

/// What `\s` and `\S` are, as the inside of a class.
constexpr std::string_view space_set =
    R"(\t-\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff})";
constexpr std::string_view other_set =
    R"(\x00-\x08\x0e-\x1f!-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}\x{202a}-\x{202e}\x{2030}-\x{205e})"
    R"(\x{2060}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{10ffff})";
constexpr std::string_view any_but_line_ends = R"([^\n\r\x{2028}\x{2029}])";
constexpr std::string_view syntax_characters = "^$\\.*+?()[]{}|/";

constexpr std::array<std::pair<std::string_view, std::string_view>, 37> categories = {{
    {"Letter", "L"},
    {"Uppercase_Letter", "Lu"},
    {"Lowercase_Letter", "Ll"},
    {"Titlecase_Letter", "Lt"},
    {"Modifier_Letter", "Lm"},
    {"Other_Letter", "Lo"},
    {"Mark", "M"},
    {"Nonspacing_Mark", "Mn"},
    {"Spacing_Mark", "Mc"},
    {"Enclosing_Mark", "Me"},
    {"Number", "N"},
    {"Decimal_Number", "Nd"},
    {"digit", "Nd"},
    {"Letter_Number", "Nl"},
    {"Other_Number", "No"},
    {"Punctuation", "P"},
    {"punct", "P"},
    {"Connector_Punctuation", "Pc"},
    {"Dash_Punctuation", "Pd"},
    {"Open_Punctuation", "Ps"},
    {"Close_Punctuation", "Pe"},
    {"Initial_Punctuation", "Pi"},
    {"Final_Punctuation", "Pf"},
    {"Other_Punctuation", "Po"},
    {"Symbol", "S"},
    {"Math_Symbol", "Sm"},
    {"Currency_Symbol", "Sc"},
    {"Modifier_Symbol", "Sk"},
    {"Other_Symbol", "So"},
    {"Separator", "Z"},
    {"Space_Separator", "Zs"},
    {"Line_Separator", "Zl"},
    {"Paragraph_Separator", "Zp"},
    {"Other", "C"},
    {"Control", "Cc"},
    {"Format", "Cf"},
    {"Private_Use", "Co"},
}};

class Translator {
 public:
  explicit Translator(std::string_view pattern) : pattern_(pattern) {}

  Result<std::string, std::string> translate() {
    while (at_ < pattern_.size() && problem_.empty()) step();
    if (!problem_.empty()) return failure(std::move(problem_));
    return std::move(out_);
  }

 private:
  [[nodiscard]] std::string_view rest() const { return pattern_.substr(at_); }

  void stop(std::string problem) {
    if (problem_.empty()) problem_ = std::move(problem);
  }

  void step() {
    const char c = pattern_[at_];
    if (c == '\\') {
      step_escape();
    } else if (c == '.') {
      out_ += any_but_line_ends;
      ++at_;
    } else if (c == '[') {
      step_class();
    } else if (c == '(') {
      step_group();
    } else if (c == '{' && !inference::decoding::begins_count(pattern_, at_)) {
      out_ += "\\{";
      ++at_;
    } else {
      out_ += c;
      ++at_;
    }
  }

  void step_group() {
    if (!rest().starts_with("(?")) {
      out_ += '(';
      ++at_;
    } else if (rest().starts_with("(?:")) {
      out_ += "(?:";
      at_ += 3;
    } else if (rest().starts_with("(?<") && at_ + 3 < pattern_.size() && pattern_[at_ + 3] != '=' &&
               pattern_[at_ + 3] != '!') {
      out_ += "(?P<";
      at_ += 3;
    } else {
      stop(fmt::format("`{}` is not supported", rest().substr(0, 4)));
    }
  }

  void step_escape() {
    if (at_ + 1 >= pattern_.size()) return stop("the pattern ends with a backslash");
    const char c = pattern_[at_ + 1];
    if (c == 's' || c == 'S') {
      out_ += fmt::format("[{}]", c == 's' ? space_set : other_set);
      at_ += 2;
    } else if (c == 'b' || c == 'B') {
      out_ += pattern_.substr(at_, 2);
      at_ += 2;
    } else {
      step_common_escape();
    }
  }

  void step_class() {
    const bool is_negated = rest().starts_with("[^");
    at_ += is_negated ? 2 : 1;
    if (rest().starts_with(']')) {
      out_ += is_negated ? R"([\x00-\x{10ffff}])" : R"([^\x00-\x{10ffff}])";
      ++at_;
      return;
    }
    out_ += is_negated ? "[^" : "[";
    while (problem_.empty()) {
      if (at_ == pattern_.size()) return stop("a class is not closed");
      const char c = pattern_[at_];
      if (c == ']') {
        out_ += c;
        ++at_;
        return;
      }
      step_in_class(c);
    }
  }

  void step_in_class(char c) {
    if (c == '[') {
      out_ += "\\[";
      ++at_;
    } else if (c != '\\') {
      out_ += c;
      ++at_;
    } else if (at_ + 1 >= pattern_.size()) {
      stop("the pattern ends with a backslash");
    } else if (const char escaped = pattern_[at_ + 1]; escaped == 's' || escaped == 'S') {
      out_ += escaped == 's' ? space_set : other_set;
      at_ += 2;
    } else if (escaped == 'b') {
      out_ += "\\x08";
      at_ += 2;
    } else if (escaped == '-') {
      out_ += "\\-";
      at_ += 2;
    } else {
      step_common_escape();
    }
  }

  /// Escapes that mean the same inside a class and outside.
  void step_common_escape() {
    const char c = pattern_[at_ + 1];
    constexpr std::string_view same = "dDwWtnrfv";
    if (same.find(c) != std::string_view::npos || syntax_characters.find(c) != std::string_view::npos) {
      out_ += pattern_.substr(at_, 2);
      at_ += 2;
    } else if (c == '0' && (at_ + 2 >= pattern_.size() || !is_digit(pattern_[at_ + 2]))) {
      out_ += "\\x00";
      at_ += 2;
    } else if (c == 'c' && at_ + 2 < pattern_.size() && is_letter(pattern_[at_ + 2])) {
      add_code_point(static_cast<std::uint32_t>(pattern_[at_ + 2]) % 32U);
      at_ += 3;
    } else if (c == 'x' || c == 'u') {
      step_code_point(c);
    } else if (c == 'p' || c == 'P') {
      step_property(c);
    } else if (is_digit(c) || c == 'k') {
      stop("backreferences are not supported");
    } else {
      stop(fmt::format("`\\{}` is no escape", pattern_.substr(at_ + 1, 1)));
    }
  }

  void add_code_point(std::uint32_t code_point) { out_ += fmt::format("\\x{{{:x}}}", code_point); }

  std::optional<std::uint32_t> take_hex(std::size_t begin, std::size_t length) const {
    if (length == 0 || length > 6 || begin + length > pattern_.size()) return std::nullopt;
    const std::string_view digits = pattern_.substr(begin, length);
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + length, value, 16);
    if (error != std::errc{} || end != digits.data() + length) return std::nullopt;
    return value;
  }

  void step_code_point(char kind) {
    std::optional<std::uint32_t> value;
    std::size_t length = kind == 'x' ? 4 : 6;
    if (kind == 'u' && pattern_.substr(at_ + 2).starts_with('{')) {
      const std::size_t close = std::min(pattern_.find('}', at_), pattern_.size());
      value = take_hex(at_ + 3, close - at_ - 3);
      length = close + 1 - at_;
    } else {
      value = take_hex(at_ + 2, length - 2);
    }
    if (value && kind == 'u' && *value >= 0xD800U && *value <= 0xDBFFU &&
        pattern_.substr(at_ + length).starts_with("\\u")) {
      const std::optional<std::uint32_t> low = take_hex(at_ + length + 2, 4);
      if (low && *low >= 0xDC00U && *low <= 0xDFFFU) {
        value = 0x10000U + ((*value - 0xD800U) << 10U) + (*low - 0xDC00U);
        length += 6;
      }
    }
    const bool is_character = value && *value <= 0x10FFFFU && (*value < 0xD800U || *value > 0xDFFFU);
    if (!is_character) return stop(fmt::format("`{}` is no character", pattern_.substr(at_, length)));
    add_code_point(*value);
    at_ += length;
  }

  void step_property(char kind) {
    const std::size_t close = pattern_.find('}', at_);
    if (!pattern_.substr(at_ + 2).starts_with('{') || close == std::string_view::npos) {
      return stop(fmt::format("`\\{}` wants a property in braces", kind));
    }
    std::string_view name = pattern_.substr(at_ + 3, close - at_ - 3);
    const std::string_view whole = name;
    bool is_script = false;
    for (const std::string_view prefix : {"General_Category=", "gc="}) {
      if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
    }
    for (const std::string_view prefix : {"Script=", "sc="}) {
      if (!name.starts_with(prefix)) continue;
      is_script = true;
      name.remove_prefix(prefix.size());
    }
    if (!is_script) {
      const auto found = std::ranges::find_if(
          categories, [&](const auto& entry) { return entry.first == name || entry.second == name; });
      if (found == categories.end()) return stop(fmt::format("the property `{}` is not supported", whole));
      name = found->second;
    }
    out_ += fmt::format("\\{}{{{}}}", kind, name);
    at_ = close + 1;
  }

  std::string_view pattern_;
  std::size_t at_ = 0;
  std::string out_;
  std::string problem_;
};

}  // namespace

Result<std::string, std::string> translate_ecma_pattern(std::string_view pattern) {
  return Translator(pattern).translate();
}

}  // namespace tenon::test
