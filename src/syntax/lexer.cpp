#include "syntax/lexer.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/ascii.h"
#include "base/utf8.h"
#include "diagnostics/kinds.h"

namespace tenon::syntax {
namespace {

using diagnostics::Diagnostics;

constexpr std::array<std::pair<std::string_view, TokenKind>, 20> keywords = {{
    {"as", TokenKind::As},         {"break", TokenKind::Break},   {"continue", TokenKind::Continue},
    {"else", TokenKind::Else},     {"enum", TokenKind::Enum},     {"extern", TokenKind::Extern},
    {"false", TokenKind::False},   {"fn", TokenKind::Fn},         {"for", TokenKind::For},
    {"if", TokenKind::If},         {"in", TokenKind::In},         {"let", TokenKind::Let},
    {"match", TokenKind::Match},   {"return", TokenKind::Return}, {"select", TokenKind::Select},
    {"struct", TokenKind::Struct}, {"true", TokenKind::True},     {"try", TokenKind::Try},
    {"use", TokenKind::Use},       {"while", TokenKind::While},
}};

constexpr bool is_letter(char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_';
}
constexpr bool is_hex(char byte) {
  return is_digit(byte) || (byte >= 'a' && byte <= 'f') || (byte >= 'A' && byte <= 'F');
}

struct Punctuation {
  TokenKind kind = TokenKind::Unknown;
  std::size_t length = 0;
};

/// The longest punctuation at the start of these characters. `>` never joins another `>`, so that `List<List<i32>>`
/// works.
constexpr Punctuation punctuation(char first, char second, char third) {
  const auto choose = [second](char longer, TokenKind two, TokenKind one) -> Punctuation {
    if (second == longer) return {two, 2};
    return {one, 1};
  };
  switch (first) {
    case '(':
      return {TokenKind::LeftParenthesis, 1};
    case ')':
      return {TokenKind::RightParenthesis, 1};
    case '{':
      return {TokenKind::LeftBrace, 1};
    case '}':
      return {TokenKind::RightBrace, 1};
    case '[':
      return {TokenKind::LeftBracket, 1};
    case ']':
      return {TokenKind::RightBracket, 1};
    case ',':
      return {TokenKind::Comma, 1};
    case ';':
      return {TokenKind::Semicolon, 1};
    case ':':
      return choose(':', TokenKind::ColonColon, TokenKind::Colon);
    case '.':
      if (second == '.' && third == '=') return {TokenKind::DotDotEqual, 3};
      return choose('.', TokenKind::DotDot, TokenKind::Dot);
    case '?':
      if (second == '.') return {TokenKind::QuestionDot, 2};
      return choose('?', TokenKind::QuestionQuestion, TokenKind::Question);
    case '!':
      return choose('=', TokenKind::BangEqual, TokenKind::Bang);
    case '=':
      if (second == '>') return {TokenKind::FatArrow, 2};
      return choose('=', TokenKind::EqualEqual, TokenKind::Equal);
    case '<':
      return choose('=', TokenKind::LessEqual, TokenKind::Less);
    case '>':
      return choose('=', TokenKind::GreaterEqual, TokenKind::Greater);
    case '+':
      return choose('=', TokenKind::PlusEqual, TokenKind::Plus);
    case '-':
      if (second == '>') return {TokenKind::Arrow, 2};
      return choose('=', TokenKind::MinusEqual, TokenKind::Minus);
    case '*':
      return choose('=', TokenKind::StarEqual, TokenKind::Star);
    case '/':
      return choose('=', TokenKind::SlashEqual, TokenKind::Slash);
    case '%':
      return choose('=', TokenKind::PercentEqual, TokenKind::Percent);
    case '|':
      return choose('|', TokenKind::PipePipe, TokenKind::Pipe);
    case '&':
      if (second == '&') return {TokenKind::AmpersandAmpersand, 2};
      return {};
    default:
      return {};
  }
}

/// Characters that mean something in other languages.
constexpr std::pair<char, std::string_view> foreign_characters[] = {
    {'&', "remove it: values are copied, there are no references; the logical operator is `&&`"},
    {'\'', "strings use double quotes: `\"…\"`"},
    {'`', "strings use double quotes: `\"…\"`"},
    {'^', "there are no operators on bits; a power is written `n.pow(2)`"},
    {'~', "there are no operators on bits; the logical operator is `!`"},
    {'@', "there are no decorators, and a pattern cannot bind what it matches as a whole"},
    {'$', "a variable is written without `$`; in a string, `{{ x }}` inserts its value"},
    {'\\', "remove it: an expression continues on the next line after an operator or within brackets"},
};

constexpr std::size_t keyword_length_min = 2;
constexpr std::size_t keyword_length_max = 8;

class Lexer {
 public:
  Lexer(const source::SourceFile& file, Diagnostics& diagnostics)
      : file_(file), text_(file.text()), diagnostics_(diagnostics) {
    tokens_.reserve(text_.size() / 4 + 8);
  }

  std::vector<Token> run() {
    while (at_ < text_.size()) {
      if (!strings_.empty() && !strings_.back().in_template) {
        lex_string_piece();
      } else {
        lex_token();
      }
    }
    if (!strings_.empty()) report_unterminated(strings_.front());
    while (!strings_.empty()) end_string();
    add(TokenKind::End, 0);
    return std::move(tokens_);
  }

 private:
  /// A string that is being read.
  struct OpenString {
    std::uint32_t start = 0;
    bool triple = false;
    bool in_template = false;
    std::uint32_t template_start = 0;
    std::uint32_t brace_depth = 0;  ///< of braces opened within the template
  };

  [[nodiscard]] std::string_view rest() const { return text_.substr(at_); }
  [[nodiscard]] char peek(std::size_t ahead) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  source::Span span(std::uint32_t offset, std::uint32_t length) const { return {file_.id(), offset, length}; }

  void add(TokenKind kind, std::size_t length) {
    tokens_.push_back({kind, newline_, at_, static_cast<std::uint32_t>(length)});
    if (kind == TokenKind::Newline || kind == TokenKind::LineComment || kind == TokenKind::DocComment) {
      newline_ = true;
    } else if (!is_trivia(kind)) {
      newline_ = false;
      last_kind_ = kind;
    }
    at_ += static_cast<std::uint32_t>(length);
  }

  void report_unterminated(const OpenString& open) {
    if (open.in_template) {
      const bool has_third = text_.substr(open.template_start).starts_with("{{{");
      diagnostics_.report(diagnostics::UnterminatedTemplate, span(open.template_start, 2))
          .hint(has_third ? "the third `{` opens a block that needs another `}`; write `\\{{{ … }}` for a literal "
                            "brace before a template expression"
                          : "close it with `}}`, or write `\\{{` for two literal braces");
    } else {
      diagnostics_.report(diagnostics::UnterminatedString, span(open.start, open.triple ? 3 : 1))
          .hint(open.triple ? "close it with `\"\"\"`"
                            : "close it with `\"` on the same line, or use `\"\"\"` for a multi-line string");
    }
  }

  /// Ends the innermost string without its closing quotes, with tokens of length 0.
  void end_string() {
    if (strings_.back().in_template) add(TokenKind::TemplateEnd, 0);
    add(TokenKind::StringEnd, 0);
    strings_.pop_back();
  }

  /// Ends the strings that cannot continue on the next line, and reports the outermost: in `"{{ x "` the last `"` is
  /// not the problem.
  void end_strings_of_line() {
    std::optional<OpenString> outermost;
    for (; !strings_.empty() && !strings_.back().triple; end_string()) outermost = strings_.back();
    if (outermost) report_unterminated(*outermost);
  }

  /// `"""` in a template of a triple-quoted string ends that string.
  bool ends_triple_quoted() {
    if (!rest().starts_with("\"\"\"")) return false;
    const auto is_triple = [](const OpenString& open) { return open.triple; };
    if (std::none_of(strings_.begin(), strings_.end(), is_triple)) return false;
    while (!strings_.back().triple) end_string();
    report_unterminated(strings_.back());
    add(TokenKind::TemplateEnd, 0);
    strings_.back().in_template = false;
    return true;
  }

  void lex_token() {
    const char first = text_[at_];
    if (first == '\n') {
      end_strings_of_line();
      return add(TokenKind::Newline, 1);
    }
    if (first == ' ' || first == '\t' || first == '\r') return add(TokenKind::Whitespace, count_blanks());
    if (first == '/' && peek(1) == '/') return lex_line_comment();
    if (first == '/' && peek(1) == '*') return lex_block_comment();
    if (first == '"') {
      if (ends_triple_quoted()) return lex_string_piece();
      return start_string();
    }
    if (is_digit(first)) return lex_number();
    if (is_letter(first)) return lex_word();
    if (lex_template_brace(first)) return;
    if (at_ == 0 && rest().starts_with(byte_order_mark)) return add(TokenKind::Whitespace, byte_order_mark.size());
    const Punctuation found = punctuation(first, peek(1), peek(2));
    if (found.length > 0) return add(found.kind, found.length);
    lex_unknown();
  }

  std::size_t count_blanks() const {
    const std::size_t end = text_.find_first_not_of(" \t\r", at_);
    return (end == std::string_view::npos ? text_.size() : end) - at_;
  }

  void lex_line_comment() {
    const bool doc = rest().starts_with("///") && !rest().starts_with("////");
    const std::size_t end = text_.find('\n', at_);
    const std::size_t length = (end == std::string_view::npos ? text_.size() : end) - at_;
    check_utf8(at_, length);
    add(doc ? TokenKind::DocComment : TokenKind::LineComment, length);
  }

  void lex_block_comment() {
    const std::uint32_t start = at_;
    std::size_t depth = 0;
    std::size_t end = at_;
    bool has_newline = false;
    while (end < text_.size()) {
      if (text_.substr(end, 2) == "/*") {
        ++depth;
        end += 2;
      } else if (text_.substr(end, 2) == "*/") {
        end += 2;
        if (--depth == 0) break;
      } else {
        has_newline = has_newline || text_[end] == '\n';
        ++end;
      }
    }
    if (depth > 0) diagnostics_.report(diagnostics::UnterminatedComment, span(start, 2)).hint("close it with `*/`");
    check_utf8(start, end - start);
    add(TokenKind::BlockComment, end - start);
    newline_ = newline_ || has_newline;
  }

  void lex_number() {
    std::size_t length = 0;
    const auto digits = [&] {
      while (is_digit(peek(length)) || peek(length) == '_') ++length;
    };
    if (peek(0) == '0' && (peek(1) == 'x' || peek(1) == 'o' || peek(1) == 'b')) {
      length = 2;
      while (is_hex(peek(length)) || peek(length) == '_') ++length;
      check_digits(text_.substr(at_, length));
      return add(TokenKind::Integer, length);
    }
    digits();
    // In `pair.0.1`, an item of a nested tuple, `0.1` is not a number.
    if (last_kind_ == TokenKind::Dot || last_kind_ == TokenKind::QuestionDot) return add(TokenKind::Integer, length);
    bool is_float = false;
    if (peek(length) == '.' && is_digit(peek(length + 1))) {
      is_float = true;
      ++length;
      digits();
    } else if (peek(length) == '.' && peek(length + 1) != '.' && !is_letter(peek(length + 1))) {
      is_float = true;  // `0.` as in Rust
      ++length;
    }
    if (peek(length) == 'e' || peek(length) == 'E') {
      const std::size_t sign = peek(length + 1) == '-' || peek(length + 1) == '+' ? 1 : 0;
      if (is_digit(peek(length + 1 + sign))) {
        is_float = true;
        length += 1 + sign;
        digits();
      }
    }
    add(is_float ? TokenKind::Float : TokenKind::Integer, length);
  }

  /// The digits after `0x`, `0o` or `0b`.
  void check_digits(std::string_view number) {
    const char base = number[1];
    const std::string_view allowed = base == 'b' ? "01_" : base == 'o' ? "01234567_" : "0123456789abcdefABCDEF_";
    const std::string_view digits = number.substr(2);
    const bool some = digits.find_first_not_of('_') != std::string_view::npos;
    if (some && digits.find_first_not_of(allowed) == std::string_view::npos) return;
    diagnostics_
        .report(diagnostics::MalformedNumber, span(at_, static_cast<std::uint32_t>(number.size())),
                std::string(number.substr(0, 32)))
        .hint(base == 'b'   ? "use the digits 0 and 1 after `0b`"
              : base == 'o' ? "use the digits 0 to 7 after `0o`"
                            : "use hexadecimal digits after `0x`");
  }

  void lex_word() {
    std::size_t length = 1;
    while (is_letter(peek(length)) || is_digit(peek(length))) ++length;
    const std::string_view word = text_.substr(at_, length);
    if (word == "_") return add(TokenKind::Underscore, 1);
    if (length >= keyword_length_min && length <= keyword_length_max) {
      for (const auto& [written, kind] : keywords) {
        if (written.front() == word.front() && word == written) return add(kind, length);
      }
    }
    add(TokenKind::Identifier, length);
  }

  /// Braces in a template: inner ones match each other, and `}}` outside of them ends it.
  bool lex_template_brace(char first) {
    if (strings_.empty()) return false;
    OpenString& open = strings_.back();
    if (first == '{') {
      ++open.brace_depth;
      add(TokenKind::LeftBrace, 1);
      return true;
    }
    if (first != '}') return false;
    if (open.brace_depth > 0) {
      --open.brace_depth;
      add(TokenKind::RightBrace, 1);
      return true;
    }
    if (peek(1) != '}') return false;
    open.in_template = false;
    add(TokenKind::TemplateEnd, 2);
    return true;
  }

  void start_string() {
    const bool triple = rest().starts_with("\"\"\"");
    strings_.push_back({at_, triple, false, 0, 0});
    add(TokenKind::StringStart, triple ? 3 : 1);
  }

  /// One of: text up to the next mark, the start of a template, the end of the string.
  void lex_string_piece() {
    OpenString& open = strings_.back();
    const std::string_view close = open.triple ? "\"\"\"" : "\"";
    if (rest().starts_with(close)) {
      // In `""""a""""` the outermost quotes are the delimiters; the others are text.
      std::size_t extra = 0;
      while (open.triple && peek(3 + extra) == '"') ++extra;
      if (extra > 0) return add(TokenKind::StringText, extra);
      strings_.pop_back();
      return add(TokenKind::StringEnd, close.size());
    }
    if (rest().starts_with("{{") && strings_.size() < template_depth_max) {
      open.in_template = true;
      open.template_start = at_;
      open.brace_depth = 0;
      return add(TokenKind::TemplateStart, 2);
    }
    std::size_t length = 0;
    while (at_ + length < text_.size()) {
      const char byte = peek(length);
      if (byte == '\n' && !open.triple) {
        if (length > 0) add(TokenKind::StringText, length);
        return end_strings_of_line();
      }
      if (text_.substr(at_ + length).starts_with(close)) break;
      if (byte == '{' && peek(length + 1) == '{' && strings_.size() < template_depth_max) break;
      if (byte == '\\') {
        length += escape_length(at_ + length);
        continue;
      }
      if (static_cast<unsigned char>(byte) >= 0x80 || static_cast<unsigned char>(byte) < 0x20) {
        length += checked_length(at_ + length);
        continue;
      }
      ++length;
    }
    add(TokenKind::StringText, std::min<std::size_t>(length, text_.size() - at_));
  }

  /// Reports an unknown escape. `\` at the end of a line joins the lines.
  std::size_t escape_length(std::size_t at) {
    const char next = at + 1 < text_.size() ? text_[at + 1] : '\0';
    if (next == 'u' && text_.substr(at + 2).starts_with("{")) {
      std::size_t end = at + 3;
      while (end < text_.size() && is_hex(text_[end])) ++end;
      std::uint32_t value = 0;
      const std::size_t digits = end - (at + 3);
      for (std::size_t index = at + 3; index < end && digits <= 6; ++index) {
        const char digit = text_[index];
        value = value * 16 + static_cast<std::uint32_t>(is_digit(digit) ? digit - '0' : (digit | 0x20) - 'a' + 10);
      }
      const bool closed = end < text_.size() && text_[end] == '}';
      const bool scalar = value <= 0x10FFFF && (value < 0xD800 || value > 0xDFFF);
      if (!closed || digits == 0 || digits > 6 || !scalar) {
        diagnostics_.report(diagnostics::UnknownEscape, span(static_cast<std::uint32_t>(at), 2), "\\u")
            .hint("write a code point as `\\u{1F600}`");
        return 2;
      }
      return end + 1 - at;
    }
    if (next == '\r' && text_.substr(at + 2).starts_with("\n")) return 3;
    constexpr std::string_view known = "nrt0\\\"{}'\n";
    if (next == '\0' || known.find(next) == std::string_view::npos) {
      const std::size_t length = next == '\0' || static_cast<unsigned char>(next) >= 0x80 || next < ' ' ? 1 : 2;
      diagnostics_
          .report(diagnostics::UnknownEscape, span(static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(length)),
                  std::string(text_.substr(at, length)))
          .hint("use one of \\n \\r \\t \\0 \\\\ \\\" \\' \\{ \\} \\u{…}; write \\\\ for a backslash");
      return length;
    }
    return 2;
  }

  std::size_t checked_length(std::size_t at) {
    if (const std::size_t length = utf8_sequence_length(text_, at); length > 1 || (length == 1 && text_[at] != '\0'))
      return length;
    if (at == 0 || at != bytes_end_) report_bytes(at);
    bytes_end_ = at + 1;
    return 1;
  }

  void check_utf8(std::size_t at, std::size_t length) {
    for (const std::size_t end = at + length; at < end;) {
      const auto byte = static_cast<unsigned char>(text_[at]);
      at += byte < 0x80 && byte != 0 ? 1 : checked_length(at);
    }
  }

  void report_bytes(std::size_t at) {
    const bool is_zero = text_[at] == '\0';
    diagnostics_
        .report(diagnostics::NotUtf8, span(static_cast<std::uint32_t>(at), 1), static_cast<unsigned char>(text_[at]))
        .hint(is_zero ? "remove it; many NUL bytes mean that the file is binary or UTF-16" : "save the file as UTF-8");
  }

  /// The length of a text in the quotes of other languages here, such as `'a'`; 0 if there is none. One in backticks
  /// can have several lines.
  std::size_t quoted_length() const {
    const char quote = peek(0);
    if (quote != '\'' && quote != '`') return 0;
    // `<'a>` and `&'a` are lifetimes.
    if (quote == '\'' && at_ > 0 && (text_[at_ - 1] == '<' || text_[at_ - 1] == '&')) return 0;
    if (const std::string_view three = "'''"; rest().starts_with(three)) {
      const std::size_t close = rest().find(three, three.size());
      if (close != std::string_view::npos) return close + three.size();
    }
    std::size_t apostrophe = 0;  // where a text up to the first quote inside a word would end: `'don'`
    for (std::size_t length = 1; at_ + length < text_.size(); ++length) {
      const char byte = peek(length);
      if (byte == quote && quote == '\'' && length > 1 && peek(length + 1) == quote) {  // a quote is doubled: `'it''s'`
        if (apostrophe == 0) apostrophe = length + 1;
        ++length;
        continue;
      }
      if (byte == quote && quote == '\'' && length > 1 && is_letter(peek(length + 1))) {
        if (apostrophe == 0) apostrophe = length + 1;
        continue;
      }
      if (byte == quote) return length > 1 || quote == '\'' ? length + 1 : 0;
      if (byte == '\n' && quote == '\'') break;
      if (byte == '\\') ++length;
    }
    return apostrophe;
  }

  /// A text in other quotes is reported and read as a string.
  void lex_quoted(std::size_t length) {
    const bool is_triple = length >= 6 && rest().starts_with("'''");
    const bool is_character = utf8_sequence_length(text_, at_ + 1) + 2 == length || (peek(1) == '\\' && length == 4);
    report_unknown(length, is_triple      ? "use double quotes: `\"\"\"…\"\"\"`"
                           : is_character ? "use double quotes: a character is a `String` of length 1"
                                          : "use double quotes: `\"…\"`");
    check_utf8(at_, length);
    add(TokenKind::StringStart, 1);
    add(TokenKind::StringText, length - 2);
    add(TokenKind::StringEnd, 1);
  }

  /// `# comment`, `#[derive(Debug)]`, `@decorator(1)`: read as a comment. Returns whether one starts here.
  bool lex_foreign_line() {
    const bool is_attribute = peek(0) == '#' && (peek(1) == '[' || (peek(1) == '!' && peek(2) == '['));
    const bool is_decorator = peek(0) == '@' && is_letter(peek(1));
    if (peek(0) != '#' && !is_decorator) return false;
    const std::size_t line_end = std::min(text_.find('\n', at_), text_.size());
    std::size_t end = line_end;
    if (is_attribute) {
      const std::size_t close = text_.find(']', at_);
      if (close < line_end) end = close + 1;
    } else if (is_decorator) {
      end = at_ + 1;
      while (end < line_end && (is_letter(text_[end]) || is_digit(text_[end]) || text_[end] == '.')) ++end;
      const std::size_t close = end < line_end && text_[end] == '(' ? text_.find(')', end) : std::string_view::npos;
      if (close < line_end) end = close + 1;
    }
    report_unknown(1, is_attribute   ? "remove it: there are no attributes"
                      : is_decorator ? "remove it: there are no decorators"
                                     : "comments start with `//`");
    check_utf8(at_, end - at_);
    add(end == line_end ? TokenKind::LineComment : TokenKind::BlockComment, end - at_);
    return true;
  }

  void report_unknown(std::size_t length, std::string hint) {
    diagnostics_
        .report(diagnostics::UnknownCharacter, span(at_, static_cast<std::uint32_t>(length)),
                std::string(text_.substr(at_, std::min<std::size_t>(length, 32))))
        .hint(std::move(hint));
  }

  /// A run of bytes that do not start a token; reported once.
  void lex_unknown() {
    const std::uint32_t start = at_;
    if (const std::size_t quoted = quoted_length(); quoted > 0) return lex_quoted(quoted);
    if (lex_foreign_line()) return;
    for (const auto& [character, hint] : foreign_characters) {
      if (peek(0) != character) continue;
      report_unknown(1, std::string(hint));
      add(TokenKind::Unknown, 1);
      return;
    }
    std::size_t length = 0;
    bool damaged = false;
    while (at_ + length < text_.size()) {
      const auto byte = static_cast<unsigned char>(peek(length));
      if (length > 0 && byte >= 0x20 && byte < 0x7F) break;
      if (length > 0 && (byte == '\n' || byte == '\t' || byte == '\r')) break;
      const std::size_t sequence = utf8_sequence_length(text_, at_ + length);
      damaged = damaged || sequence == 0 || byte == 0;
      length += std::max<std::size_t>(sequence, 1);
    }
    if (damaged) {
      report_bytes(start);
    } else {
      report_unknown(
          length,
          "use the letters a to z, digits and `_` in names; other characters are only allowed in strings and comments");
    }
    add(TokenKind::Unknown, length);
  }

  const source::SourceFile& file_;
  std::string_view text_;
  Diagnostics& diagnostics_;
  std::vector<Token> tokens_;
  std::vector<OpenString> strings_;
  std::uint32_t at_ = 0;
  std::size_t bytes_end_ = 0;             ///< of the last run of invalid bytes, which is reported once
  TokenKind last_kind_ = TokenKind::End;  ///< of the last token that is not trivia
  bool newline_ = true;
};

constexpr std::string_view token_texts[] = {
#define TENON_TOKEN(name, text) text,
    TENON_TOKENS(TENON_TOKEN)
#undef TENON_TOKEN
};
constexpr std::string_view token_names[] = {
#define TENON_TOKEN(name, text) #name,
    TENON_TOKENS(TENON_TOKEN)
#undef TENON_TOKEN
};

}  // namespace

std::string_view describe(TokenKind kind) {
  return token_texts[static_cast<std::size_t>(kind)];
}
std::string_view name_of(TokenKind kind) {
  return token_names[static_cast<std::size_t>(kind)];
}

std::vector<Token> lex(const source::SourceFile& file, Diagnostics& diagnostics) {
  return Lexer(file, diagnostics).run();
}

}  // namespace tenon::syntax
