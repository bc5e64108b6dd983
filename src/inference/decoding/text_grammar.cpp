#include "inference/decoding/text_grammar.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "base/ascii.h"
#include "inference/model.h"

namespace tenon::inference::decoding {
namespace {

/// What an answer is read without, see answers::trim. A text that ended with it would be shorter than its mask counted.
constexpr std::string_view without_space_around = R"(/[^\x20\t\n\r]((?s:.)*[^\x20\t\n\r])?/)";

/// The largest number that the grammar's syntax takes. No answer is as long.
constexpr std::uint64_t count_max = std::numeric_limits<std::int32_t>::max();

/// Rewrites an RE2 pattern as one that means the same in Rust's syntax, between the slashes of a Lark grammar. In RE2
/// `\d`, `\s` and `\w` are ASCII; a class has no class within it but `[:name:]`, and no operators; and a brace that
/// begins no count is itself. What Rust's syntax has nothing for stays as it is, and is refused there.
class Re2Rewriter {
 public:
  explicit Re2Rewriter(std::string_view pattern) : pattern_(pattern) {}

  std::string rewrite() {
    while (at_ < pattern_.size()) step();
    return std::move(out_);
  }

 private:
  [[nodiscard]] std::string_view rest() const { return pattern_.substr(at_); }

  void copy(std::size_t count) {
    out_ += rest().substr(0, count);
    at_ += count;
  }
  void write(std::string_view text, std::size_t count) {
    out_ += text;
    at_ += count;
  }

  void step() {
    const char character = pattern_[at_];
    if (character == '\\') {
      step_escape();
    } else if (character == '/') {
      write(R"(\x2F)", 1);
    } else if (character == '\n') {
      write(R"(\n)", 1);
    } else if (character == '\r') {
      write(R"(\r)", 1);
    } else if (character == '\0') {
      write(R"(\x00)", 1);
    } else if (in_class_) {
      step_in_class(character);
    } else if (character == '[') {
      in_class_ = true;
      copy(rest().starts_with("[^") ? 2 : 1);
      // A bracket that comes first is itself.
      if (rest().starts_with(']')) write(R"(\])", 1);
    } else if (character == '{' && !begins_count(pattern_, at_)) {
      write(R"(\{)", 1);
    } else {
      copy(1);
    }
  }

  void step_in_class(char character) {
    constexpr std::string_view operators = "[&~";
    if (character == '[' && rest().starts_with("[:") && rest().find(":]") != std::string_view::npos) {
      copy(rest().find(":]") + 2);
    } else if (operators.find(character) != std::string_view::npos) {
      out_ += '\\';
      copy(1);
    } else if (character == ']') {
      in_class_ = false;
      copy(1);
    } else {
      copy(1);
    }
  }

  void step_escape() {
    switch (at_ + 1 < pattern_.size() ? pattern_[at_ + 1] : '\0') {
      case 'd':
        return write("[0-9]", 2);
      case 'D':
        return write("[^0-9]", 2);
      case 's':
        return write(R"([\t\n\f\r\x20])", 2);
      case 'S':
        return write(R"([^\t\n\f\r\x20])", 2);
      case 'w':
        return write("[0-9A-Za-z_]", 2);
      case 'W':
        return write("[^0-9A-Za-z_]", 2);
      case '/':
        return write(R"(\x2F)", 2);
      case '<':
      case '>':
        return write(pattern_[at_ + 1] == '<' ? R"(\x3C)" : R"(\x3E)", 2);
      case '\n':
        return write(R"(\n)", 2);
      case 'p':
      case 'P':
      case 'x':
        // `\p{Greek}`, `\x{e9}`: these braces are the escape's own.
        return copy(rest().substr(2).starts_with('{') ? std::min(rest().find('}'), rest().size() - 1) + 1 : 2);
      default:
        return copy(2);
    }
  }

  std::string_view pattern_;
  std::size_t at_ = 0;
  bool in_class_ = false;
  std::string out_;
};

std::string make_terminal(std::string_view pattern) {
  return fmt::format("/(?:{})/", Re2Rewriter(pattern).rewrite());
}

}  // namespace

std::string make_text_grammar(const TextForm& form) {
  std::string grammar = fmt::format("start: TEXT\nTEXT: {}", without_space_around);
  if (form.length_min || form.length_max) {
    const std::uint64_t low = std::min(form.length_min.value_or(0), count_max);
    grammar += fmt::format(" & /(?s:.)/{{{},", low);
    if (form.length_max && *form.length_max < count_max) grammar += fmt::format("{}", *form.length_max);
    grammar += '}';
  }
  for (const std::string& pattern : form.patterns) grammar += " & " + make_terminal(pattern);
  return grammar + '\n';
}

std::string make_pattern_grammar(std::string_view pattern) {
  return fmt::format("start: TEXT\nTEXT: {}\n", make_terminal(pattern));
}

bool begins_count(std::string_view pattern, std::size_t at) {
  ++at;
  const auto skip_digits = [&] {
    const std::size_t from = at;
    while (at < pattern.size() && is_digit(pattern[at])) ++at;
    return at > from;
  };
  if (!skip_digits()) return false;
  if (at < pattern.size() && pattern[at] == ',') {
    ++at;
    skip_digits();
  }
  return at < pattern.size() && pattern[at] == '}';
}

}  // namespace tenon::inference::decoding
