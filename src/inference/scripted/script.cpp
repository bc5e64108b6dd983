#include "inference/scripted/script.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "base/utf8.h"
#include "json/reader.h"

namespace tenon::inference {
namespace {

/// The words that may stand before an answer's text, in the order in which messages list them.
struct NamedEnd {
  std::string_view word;
  std::variant<Finish, ModelErrorKind> end;
};

constexpr std::array named_ends = {
    NamedEnd{"refused", Finish::Refused},
    NamedEnd{"cut_off", Finish::CutOff},
    NamedEnd{"unreachable", ModelErrorKind::Unreachable},
    NamedEnd{"timed_out", ModelErrorKind::TimedOut},
    NamedEnd{"rejected", ModelErrorKind::Rejected},
    NamedEnd{"misconfigured", ModelErrorKind::Misconfigured},
    NamedEnd{"overloaded", ModelErrorKind::Overloaded},
    NamedEnd{"bad_reply", ModelErrorKind::BadReply},
    NamedEnd{"context_full", ModelErrorKind::ContextFull},
};

constexpr std::string_view triple_quote = "\"\"\"";
constexpr std::string_view arrow = "=>";

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}
bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}
bool is_number_start(char c) {
  return (c >= '0' && c <= '9') || c == '-';
}

/// The lines between triple quotes, without the indentation that all of them share.
std::string without_indentation(std::string_view block) {
  std::vector<std::string_view> lines;
  while (true) {
    const std::size_t end = block.find('\n');
    std::string_view line = block.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
    if (end == std::string_view::npos) break;
    block.remove_prefix(end + 1);
  }
  const auto indentation_of = [](std::string_view line) {
    return std::min(line.find_first_not_of(" \t"), line.size());
  };
  const auto is_empty = [&](std::string_view line) { return indentation_of(line) == line.size(); };
  if (lines.size() > 1 && is_empty(lines.front())) lines.erase(lines.begin());
  std::size_t indentation = std::string_view::npos;
  for (const auto line : lines) {
    if (!is_empty(line)) indentation = std::min(indentation, indentation_of(line));
  }
  // The line of the closing quotes is not part of the text.
  if (lines.size() > 1 && is_empty(lines.back())) lines.pop_back();
  std::string text;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) text += '\n';
    if (!is_empty(lines[i])) text += lines[i].substr(std::min(indentation, lines[i].size()));
  }
  return text;
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {
    if (text.starts_with(byte_order_mark)) at_ = byte_order_mark.size();
  }

  Result<Script, ScriptSyntaxError> read() {
    Script script;
    for (skip_to_entry(); !fault_ && at_ < text_.size(); skip_to_entry()) read_entry(script);
    if (fault_) return failure(std::move(*fault_));
    return script;
  }

 private:
  void read_entry(Script& script) {
    ScriptRule rule;
    rule.line = line_at(at_);
    read_label(rule);
    while (!fault_ && take_word(rule.prompt_contains.empty() ? "when" : "and")) {
      skip_blanks();
      if (auto text = read_text()) {
        rule.prompt_contains.push_back(std::move(*text));
      } else {
        fail("the text that the prompt has to contain is missing: `when \"…\"`");
      }
      skip_blanks();
    }
    if (fault_) return;
    if (!take(arrow)) return fail("`=>` is missing between the label and its answer");
    do {
      skip_blanks_and_lines();
      read_answer(rule);
      skip_blanks();
    } while (!fault_ && take(","));
    if (fault_) return;
    if (at_ < text_.size() && text_[at_] != '\n' && text_[at_] != '#') {
      return fail("unexpected text after the answer; separate several answers with `,`");
    }
    add(script, std::move(rule));
  }

  static void add(Script& script, ScriptRule rule) {
    for (ScriptRule& earlier : script.rules) {
      if (earlier.label == rule.label && earlier.prompt_contains == rule.prompt_contains) {
        std::move(rule.answers.begin(), rule.answers.end(), std::back_inserter(earlier.answers));
        return;
      }
    }
    script.rules.push_back(std::move(rule));
  }

  void read_label(ScriptRule& rule) {
    if (text_[at_] == '"') {
      if (auto label = read_text()) rule.label = std::move(*label);
      if (!fault_ && rule.label.empty()) fail("the label is empty; `*` matches any");
    } else {
      const std::size_t begin = at_;
      while (at_ < text_.size() && !is_blank(text_[at_]) && text_[at_] != '\n' && !text_.substr(at_).starts_with(arrow))
        ++at_;
      if (begin == at_) return fail("missing label before `=>`; `*` matches any");
      const std::string_view label = text_.substr(begin, at_ - begin);
      if (label != "*") rule.label = label;
    }
    skip_blanks();
  }

  void read_answer(ScriptRule& rule) {
    ScriptedAnswer answer;
    if (take_word("after")) {
      skip_blanks();
      if (!read_delay(answer)) return;
      skip_blanks();
    }
    bool text_may_be_missing = false;
    for (const NamedEnd& named : named_ends) {
      if (take_word(named.word)) {
        answer.end = named.end;
        text_may_be_missing = true;
        skip_blanks();
        break;
      }
    }
    const std::size_t begin = at_;
    if (auto text = read_text()) {
      answer.text = std::move(*text);
    } else if (auto json = fault_ ? std::nullopt : read_json()) {
      answer.text = std::move(*json);
    } else if (fault_) {
      return;
    } else if (!text_may_be_missing) {
      at_ = begin;
      return fail(answer_expected());
    } else if (std::holds_alternative<ModelErrorKind>(answer.end)) {
      answer.text = "the script says so";
    }
    rule.answers.push_back(std::move(answer));
  }

  static std::string answer_expected() {
    std::string words;
    for (const NamedEnd& named : named_ends) words += fmt::format("{}`{}`", words.empty() ? "" : ", ", named.word);
    return fmt::format("an answer is missing: a text in quotes, a JSON value, or one of {}", words);
  }

  bool read_delay(ScriptedAnswer& answer) {
    std::uint32_t count = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), count);
    if (error != std::errc()) {
      fail("the delay after `after` is missing, such as `200ms` or `2s`");
      return false;
    }
    at_ = static_cast<std::size_t>(end - text_.data());
    if (take_word("ms")) {
      answer.delay = std::chrono::milliseconds(count);
    } else if (take_word("s")) {
      answer.delay = std::chrono::seconds(count);
    } else {
      fail("a delay has a unit: `ms` or `s`");
      return false;
    }
    return true;
  }

  /// A string in quotes or triple quotes; nothing, and nothing taken, where there is none.
  std::optional<std::string> read_text() {
    if (text_.substr(at_).starts_with(triple_quote)) {
      const std::size_t begin = at_ + triple_quote.size();
      const std::size_t end = text_.find(triple_quote, begin);
      if (end == std::string_view::npos) {
        fail("the text has no closing `\"\"\"`");
        return std::nullopt;
      }
      at_ = end + triple_quote.size();
      return without_indentation(text_.substr(begin, end - begin));
    }
    if (at_ >= text_.size() || text_[at_] != '"') return std::nullopt;
    const std::size_t begin = at_;
    if (!skip_string()) {
      at_ = begin;
      fail("unterminated string; a string of several lines is written between `\"\"\"`");
      return std::nullopt;
    }
    const auto parsed = parse_json(text_.substr(begin, at_ - begin));
    if (!parsed) {
      at_ = begin;
      fail("the text has an escape that JSON does not know, or is not UTF-8");
      return std::nullopt;
    }
    return parsed->as_string();
  }

  /// A JSON value other than a string, as it is written.
  std::optional<std::string> read_json() {
    if (at_ >= text_.size()) return std::nullopt;
    const std::size_t begin = at_;
    if (text_[at_] == '{' || text_[at_] == '[') {
      if (!skip_brackets()) {
        at_ = begin;
        fail("the JSON value has no closing bracket");
        return std::nullopt;
      }
    } else if (is_number_start(text_[at_])) {
      while (at_ < text_.size() && (is_word(text_[at_]) || text_[at_] == '.' || text_[at_] == '+')) ++at_;
    } else if (!take_word("true") && !take_word("false") && !take_word("null")) {
      return std::nullopt;
    }
    std::string value(text_.substr(begin, at_ - begin));
    if (!is_json(value)) {
      at_ = begin;
      fail("this is not JSON");
      return std::nullopt;
    }
    return value;
  }

  bool skip_string() {
    for (++at_; at_ < text_.size() && text_[at_] != '\n'; ++at_) {
      if (text_[at_] == '\\') {
        ++at_;
        if (at_ >= text_.size() || text_[at_] == '\n') return false;
      } else if (text_[at_] == '"') {
        ++at_;
        return true;
      }
    }
    return false;
  }

  bool skip_brackets() {
    std::size_t depth = 0;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"') {
        if (!skip_string()) return false;
        continue;
      }
      ++at_;
      if (c == '{' || c == '[') ++depth;
      if (c == '}' || c == ']') {
        if (--depth == 0) return true;
      }
    }
    return false;
  }

  void skip_blanks() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
  }
  void skip_blanks_and_lines() {
    while (at_ < text_.size() && (is_blank(text_[at_]) || text_[at_] == '\n')) ++at_;
  }
  void skip_to_entry() {
    while (!fault_) {
      skip_blanks_and_lines();
      if (at_ >= text_.size() || text_[at_] != '#') return;
      at_ = std::min(text_.find('\n', at_), text_.size());
    }
  }

  bool take(std::string_view symbol) {
    if (!text_.substr(at_).starts_with(symbol)) return false;
    at_ += symbol.size();
    return true;
  }
  bool take_word(std::string_view word) {
    const std::size_t end = at_ + word.size();
    if (!text_.substr(at_).starts_with(word) || (end < text_.size() && is_word(text_[end]))) return false;
    at_ = end;
    return true;
  }

  /// Lines are counted forwards from the last place asked for, so that a file costs one pass.
  std::uint32_t line_at(std::size_t position) {
    if (position < counted_to_) {
      counted_to_ = 0;
      lines_counted_ = 0;
    }
    const auto newlines = std::count(text_.begin() + static_cast<std::ptrdiff_t>(counted_to_),
                                     text_.begin() + static_cast<std::ptrdiff_t>(position), '\n');
    lines_counted_ += static_cast<std::uint32_t>(newlines);
    counted_to_ = position;
    return lines_counted_ + 1;
  }

  void fail(std::string message) {
    if (fault_) return;
    const std::size_t line_begin = at_ == 0 ? std::string_view::npos : text_.rfind('\n', at_ - 1);
    const std::size_t column = line_begin == std::string_view::npos ? at_ : at_ - line_begin - 1;
    fault_ = ScriptSyntaxError{line_at(at_), static_cast<std::uint32_t>(column + 1), std::move(message)};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t counted_to_ = 0;
  std::uint32_t lines_counted_ = 0;
  std::optional<ScriptSyntaxError> fault_;
};

}  // namespace

Result<Script, ScriptSyntaxError> parse_script(std::string_view text) {
  return Reader(text).read();
}

}  // namespace tenon::inference
