#include "syntax/literals.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <system_error>

#include "base/utf8.h"

namespace tenon::syntax {
namespace {

constexpr std::string_view blanks = " \t";

/// A piece of a string as in the file, in the order of the file.
struct RawPart {
  enum class Kind : std::uint8_t {
    Text,
    Value,    ///< a TemplateHole, or the rest of a damaged piece
    Section,  ///< the start of a TemplateFor or TemplateIf; has no length, its head is a Mark
    Mark,     ///< `{{ for … }}`, `{{ if … }}`, `{{ else }}`, `{{ end }}`
  } kind = Kind::Text;
  NodeId owner;      ///< the StringExpression or TemplateBody that it belongs to
  NodeId node = {};  ///< of a Value or a Section
  std::string_view text = {};
  bool is_alone = false;  ///< of a Mark: alone on its line, which is removed with it
};

std::string without_separators(std::string_view text) {
  std::string digits;
  digits.reserve(text.size());
  std::copy_if(text.begin(), text.end(), std::back_inserter(digits), [](char byte) { return byte != '_'; });
  return digits;
}

/// The power of ten of the first nonzero digit of a number: 2 for `123.4`, -3 for `0.001`.
long long decimal_magnitude(std::string_view digits) {
  const std::size_t exponent_at = std::min(digits.find_first_of("eE"), digits.size());
  const std::string_view mantissa = digits.substr(0, exponent_at);
  const std::size_t point = std::min(mantissa.find('.'), mantissa.size());
  const std::size_t first = mantissa.find_first_of("123456789");
  if (first == std::string_view::npos) return 0;
  long long magnitude =
      first < point ? static_cast<long long>(point - first) - 1 : -static_cast<long long>(first - point);
  if (exponent_at < digits.size()) {
    std::string_view exponent = digits.substr(exponent_at + 1);
    if (exponent.starts_with('+')) exponent.remove_prefix(1);
    long long value = 0;
    if (std::from_chars(exponent.data(), exponent.data() + exponent.size(), value).ec != std::errc{}) {
      value = exponent.starts_with('-') ? -1'000'000'000 : 1'000'000'000;
    }
    magnitude += value;
  }
  return magnitude;
}

std::size_t count_blanks(std::string_view text) {
  return std::min(text.find_first_not_of(blanks), text.size());
}

/// The length of the line end at the start of `text`, or 0.
std::size_t line_end_length(std::string_view text) {
  if (text.starts_with('\n')) return 1;
  return text.starts_with("\r\n") ? 2 : 0;
}

/// Appends the character of the escape at the start of `raw`, and returns the length of the escape.
std::size_t append_escape(std::string& out, std::string_view raw) {
  if (const std::size_t line_end = line_end_length(raw.substr(1)); line_end > 0) {
    return 1 + line_end + count_blanks(raw.substr(1 + line_end));
  }
  constexpr std::string_view written = "nrt0\\\"{}'";
  constexpr std::string_view meant{"\n\r\t\0\\\"{}'", 9};
  if (raw.size() > 1) {
    if (const std::size_t known = written.find(raw[1]); known != std::string_view::npos) {
      out += meant[known];
      return 2;
    }
  }
  if (raw.starts_with("\\u{")) {
    const std::size_t end = raw.substr(0, 10).find('}');  // at most six digits
    std::uint32_t value = 0;
    const auto read = std::from_chars(raw.data() + 3, raw.data() + std::min(end, raw.size()), value, 16);
    const bool scalar = value <= 0x10FFFF && (value < 0xD800 || value > 0xDFFF);
    if (end != std::string_view::npos && read.ec == std::errc{} && read.ptr == raw.data() + end && scalar) {
      append_utf8(out, value);
      return end + 1;
    }
  }
  out += '\\';
  return 1;
}

/// Decodes a raw piece; `indentation` is removed after each line end.
std::string decode(std::string_view raw, std::size_t indentation) {
  std::string out;
  out.reserve(raw.size());
  for (std::size_t at = 0; at < raw.size();) {
    const std::string_view rest = raw.substr(at);
    if (const std::size_t line_end = line_end_length(rest); line_end > 0) {
      out += '\n';
      at += line_end;
      const std::size_t leading = count_blanks(raw.substr(at));
      const bool blank_line = line_end_length(raw.substr(at + leading)) > 0;
      at += blank_line ? leading : std::min(leading, indentation);
    } else if (rest.front() == '\\') {
      at += append_escape(out, rest);
    } else {
      const std::size_t length = std::min(rest.find_first_of("\\\r\n", 1), rest.size());
      out += rest.substr(0, length);
      at += length;
    }
  }
  return out;
}

class RawParts {
 public:
  explicit RawParts(const SyntaxTree& tree) : tree_(tree) {}

  std::vector<RawPart> parts;

  void add_pieces(NodeId owner) {
    const Node& node = tree_[owner];
    NodeId piece = node.first_child;
    for (TokenIndex at = node.first_token; at < node.end_token; ++at) {
      if (piece.exists() && at >= tree_[piece].first_token) {
        const NodeKind kind = tree_.kind(piece);
        const bool section = kind == NodeKind::TemplateFor || kind == NodeKind::TemplateIf;
        parts.push_back({section ? RawPart::Kind::Section : RawPart::Kind::Value, owner, piece});
        if (section) add_section(piece);
        at = std::max(at, tree_[piece].end_token - 1);
        piece = tree_.next(piece);
      } else if (tree_.tokens[at].kind == TokenKind::StringText) {
        parts.push_back({RawPart::Kind::Text, owner, {}, tree_.text(at)});
      }
    }
  }

 private:
  void add_section(NodeId section) {
    parts.push_back({RawPart::Kind::Mark, {}});
    for (const NodeId body : tree_.children(section, NodeKind::TemplateBody)) {
      add_pieces(body);
      const NodeId next = tree_.next(body);
      if (next.exists() && tree_.kind(next) == NodeKind::TemplateIf) {
        add_section(next);  // `{{ else if … }}`; it shares its `{{ end }}`
      } else {
        parts.push_back({RawPart::Kind::Mark, {}});
      }
    }
  }

  const SyntaxTree& tree_;
};

/// Whether a `\` before the line end at `at` joins it with the next line.
bool is_joined(std::string_view text, std::size_t at) {
  if (at > 0 && text[at - 1] == '\r') --at;
  std::size_t backslashes = 0;
  while (backslashes < at && text[at - 1 - backslashes] == '\\') ++backslashes;
  return backslashes % 2 == 1;
}

bool ends_with_line_start(std::string_view text, bool begins_string) {
  const std::size_t line_end = text.rfind('\n');
  if (line_end == std::string_view::npos) return begins_string && count_blanks(text) == text.size();
  return count_blanks(text.substr(line_end + 1)) == text.size() - line_end - 1 && !is_joined(text, line_end);
}

bool begins_with_line_end(std::string_view text, bool ends_string) {
  const std::size_t blank = count_blanks(text);
  return line_end_length(text.substr(blank)) > 0 || (ends_string && blank == text.size());
}

/// Finds the marks that are alone on their line.
void find_marks_alone(std::vector<RawPart>& parts) {
  const auto is_section = [&](std::size_t at) { return parts[at].kind == RawPart::Kind::Section; };
  for (std::size_t at = 0; at < parts.size(); ++at) {
    if (parts[at].kind != RawPart::Kind::Mark) continue;
    std::size_t before = at;
    while (before > 0 && is_section(before - 1)) --before;
    std::size_t after = at + 1;
    while (after < parts.size() && is_section(after)) ++after;
    const bool starts = before == 0 || (parts[before - 1].kind == RawPart::Kind::Text &&
                                        ends_with_line_start(parts[before - 1].text, before == 1));
    const bool ends = after == parts.size() || (parts[after].kind == RawPart::Kind::Text &&
                                                begins_with_line_end(parts[after].text, after + 1 == parts.size()));
    parts[at].is_alone = starts && ends;
  }
}

/// The mark after the part at `at`, if it is alone on its line.
bool is_before_mark_alone(const std::vector<RawPart>& parts, std::size_t at) {
  for (++at; at < parts.size() && parts[at].kind == RawPart::Kind::Section;) ++at;
  return at < parts.size() && parts[at].is_alone;
}

/// The number of spaces at the start of all lines of a triple-quoted string.
std::size_t common_indentation(const std::vector<RawPart>& parts) {
  std::optional<std::string_view> common;
  for (std::size_t part = 0; part < parts.size(); ++part) {
    if (parts[part].kind != RawPart::Kind::Text) continue;
    const std::string_view text = parts[part].text;
    for (std::size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1)) {
      const std::string_view line = text.substr(at + 1);
      const std::size_t length = count_blanks(line);
      if (line_end_length(line.substr(length)) > 0) continue;
      if (length == line.size() && is_before_mark_alone(parts, part)) continue;
      const std::string_view leading = line.substr(0, length);
      if (!common) common = leading;
      const auto differ = std::mismatch(common->begin(), common->end(), leading.begin(), leading.end());
      common = common->substr(0, static_cast<std::size_t>(differ.first - common->begin()));
    }
  }
  return common ? common->size() : 0;
}

/// Removes the indentation of the line at the start of `text`; `is_all`: nothing follows in the string.
void drop_indentation(std::string_view& text, std::size_t indentation, bool is_all) {
  const std::size_t blank = count_blanks(text);
  const bool closing = blank == text.size() && is_all;
  text.remove_prefix(closing || line_end_length(text.substr(blank)) > 0 ? blank : std::min(blank, indentation));
}

/// Removes the white space between the quotes of a triple-quoted string and its text.
void trim_triple_quoted(std::vector<RawPart>& parts, std::size_t indentation) {
  if (parts.empty()) return;
  if (parts.front().kind == RawPart::Kind::Text) {
    std::string_view& first = parts.front().text;
    const std::size_t leading = count_blanks(first);
    if (const std::size_t line_end = line_end_length(first.substr(leading)); line_end > 0) {
      first.remove_prefix(leading + line_end);
      drop_indentation(first, indentation, parts.size() == 1);
    }
  }
  if (parts.back().kind == RawPart::Kind::Text) {
    std::string_view& last = parts.back().text;
    const std::size_t line_end = last.rfind('\n');
    if (line_end != std::string_view::npos && count_blanks(last.substr(line_end + 1)) == last.size() - line_end - 1) {
      last = last.substr(0, line_end);
      if (last.ends_with('\r')) last.remove_suffix(1);
    }
  }
}

/// Removes the lines that contain only a mark.
void drop_lines_of_marks(std::vector<RawPart>& parts, std::size_t indentation) {
  const auto text_at = [&](std::size_t at, std::ptrdiff_t step) -> std::string_view* {
    do at = static_cast<std::size_t>(static_cast<std::ptrdiff_t>(at) + step);
    while (at < parts.size() && parts[at].kind == RawPart::Kind::Section);
    return at < parts.size() && parts[at].kind == RawPart::Kind::Text ? &parts[at].text : nullptr;
  };
  for (std::size_t at = 0; at < parts.size(); ++at) {
    if (!parts[at].is_alone) continue;
    if (std::string_view* const before = text_at(at, -1)) {
      const std::size_t last = before->find_last_not_of(blanks);
      *before = before->substr(0, last == std::string_view::npos ? 0 : last + 1);
    }
    if (std::string_view* const after = text_at(at, 1)) {
      const std::size_t blank = count_blanks(*after);
      after->remove_prefix(blank + line_end_length(after->substr(blank)));
      drop_indentation(*after, indentation, false);
    }
  }
}

}  // namespace

Result<std::uint64_t, NumberError> integer_value(std::string_view text) {
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0o") || text.starts_with("0b")) {
    base = text[1] == 'x' ? 16 : text[1] == 'o' ? 8 : 2;
    text.remove_prefix(2);
  }
  const std::string digits = without_separators(text);
  std::uint64_t value = 0;
  const char* const end = digits.data() + digits.size();
  const auto read = std::from_chars(digits.data(), end, value, base);
  if (read.ec == std::errc::invalid_argument || read.ptr != end) return failure(NumberError::Malformed);
  if (read.ec == std::errc::result_out_of_range) return failure(NumberError::OutOfRange);
  return value;
}

Result<double, NumberError> float_value(std::string_view text) {
  const std::string digits = without_separators(text);
  double value = 0;
  const char* const end = digits.data() + digits.size();
  const auto read = std::from_chars(digits.data(), end, value);
  if (read.ec == std::errc::invalid_argument || read.ptr != end) return failure(NumberError::Malformed);
  if (read.ec == std::errc::result_out_of_range) {
    if (decimal_magnitude(digits) > 0) return failure(NumberError::OutOfRange);
    return 0.0;
  }
  return value;
}

TemplateParts template_parts(const SyntaxTree& tree, NodeId string_expression) {
  RawParts raw(tree);
  raw.add_pieces(string_expression);
  std::size_t indentation = 0;
  if (tree.text(tree[string_expression].first_token) == "\"\"\"") {
    find_marks_alone(raw.parts);
    indentation = common_indentation(raw.parts);
    trim_triple_quoted(raw.parts, indentation);
    drop_lines_of_marks(raw.parts, indentation);
  }
  TemplateParts all;
  all[string_expression.index];
  for (const RawPart& part : raw.parts) {
    if (part.kind == RawPart::Kind::Mark) continue;
    std::vector<StringPart>& parts = all[part.owner.index];
    if (part.kind != RawPart::Kind::Text) {
      parts.emplace_back(part.node);
      continue;
    }
    std::string text = decode(part.text, indentation);
    if (text.empty()) continue;
    if (!parts.empty() && std::holds_alternative<std::string>(parts.back())) {
      std::get<std::string>(parts.back()) += text;
    } else {
      parts.emplace_back(std::move(text));
    }
  }
  return all;
}

std::vector<StringPart> string_parts(const SyntaxTree& tree, NodeId string_expression) {
  return std::move(template_parts(tree, string_expression)[string_expression.index]);
}

std::optional<std::uint64_t> unit_milliseconds(std::string_view unit) {
  if (unit == "ms") return 1;
  if (unit == "s") return 1'000;
  if (unit == "m") return 60'000;
  if (unit == "h") return 3'600'000;
  if (unit == "d") return 86'400'000;
  return std::nullopt;
}

std::optional<std::string> plain_string(const SyntaxTree& tree, NodeId string_expression) {
  std::vector<StringPart> parts = string_parts(tree, string_expression);
  if (parts.empty()) return std::string{};
  if (parts.size() > 1 || !std::holds_alternative<std::string>(parts.front())) return std::nullopt;
  return std::get<std::string>(std::move(parts.front()));
}

NodeId scripted_answer(const SyntaxTree& tree, NodeId entry) {
  NodeId last;
  for (NodeId child = tree.first(entry); child.exists(); child = tree.next(child)) last = child;
  const bool is_limit =
      last.exists() && (tree.kind(last) == NodeKind::Arguments || tree.kind(last) == NodeKind::ScriptCondition);
  return is_limit ? NodeId{} : last;
}

bool is_unanswered(const SyntaxTree& tree, NodeId answer) {
  return tree.kind(answer) == NodeKind::NameExpression && tree.text(answer) == "nobody";
}

}  // namespace tenon::syntax
