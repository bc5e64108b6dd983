#include "syntax/brackets.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string>

#include "diagnostics/kinds.h"
#include "syntax/damage.h"
#include "syntax/item_keywords.h"

namespace tenon::syntax {
namespace {

using TokenIndex = std::uint32_t;

/// The bracket that closes this opening bracket; End for other tokens.
TokenKind closing_of(TokenKind kind) {
  switch (kind) {
    case TokenKind::LeftBrace:
      return TokenKind::RightBrace;
    case TokenKind::LeftParenthesis:
      return TokenKind::RightParenthesis;
    case TokenKind::LeftBracket:
      return TokenKind::RightBracket;
    case TokenKind::TemplateStart:
      return TokenKind::TemplateEnd;
    default:
      return TokenKind::End;
  }
}

bool closes(TokenKind kind) {
  return kind == TokenKind::RightBrace || kind == TokenKind::RightParenthesis || kind == TokenKind::RightBracket ||
         kind == TokenKind::TemplateEnd;
}

/// The number of open brackets, and of lines, that are searched for a match.
constexpr std::size_t searched_depth_max = 256;
constexpr std::size_t searched_lines_max = 1'000;

struct Line {
  TokenIndex first = 0;      ///< its first token that is not trivia
  TokenIndex last = 0;       ///< and the last one
  std::uint32_t indent = 0;  ///< the column of the first one, in bytes, from 0
};

class BracketBalancer {
 public:
  BracketBalancer(const source::SourceFile& file, std::vector<Token>& tokens, diagnostics::Diagnostics& diagnostics,
                  std::vector<source::Span>& damage)
      : file_(file), tokens_(tokens), diagnostics_(diagnostics), damage_(damage) {}

  void run() {
    const auto end = static_cast<TokenIndex>(tokens_.size());
    if (is_balanced(0, end)) return;
    find_lines();
    // An item at the left edge ends the one before, so that an error in one does not reach the next.
    std::vector<TokenIndex> starts = {0};
    for (const Line& line : lines_) {
      if (line.first != 0 && starts_item(line)) starts.push_back(line.first);
    }
    starts.push_back(end);
    for (std::size_t at = 0; at + 1 < starts.size();) {
      const std::size_t next = end_of_balanced(starts, at).value_or(at + 1);
      repair(starts[at], starts[next]);
      at = next;
    }
    insert_all();
    std::vector<source::Span> lines;
    for (const auto& [offset, line] : taken_lines_) lines.push_back(line);
    add_damage(damage_, lines);
  }

 private:
  struct Open {
    TokenIndex token = 0;
    TokenKind closing = TokenKind::End;
    std::size_t line = 0;
  };
  struct Insertion {
    TokenIndex before = 0;
    Token token;
  };

  bool is_balanced(TokenIndex begin, TokenIndex end) const {
    std::vector<TokenKind> open;
    for (TokenIndex at = begin; at < end; ++at) {
      const TokenKind kind = tokens_[at].kind;
      if (const TokenKind closing = closing_of(kind); closing != TokenKind::End) {
        open.push_back(closing);
      } else if (closes(kind)) {
        if (open.empty() || open.back() != kind) return false;
        open.pop_back();
      }
    }
    return open.empty();
  }

  /// The first of the `starts` after `from` before which all brackets match; nothing if there is none nearby.
  std::optional<std::size_t> end_of_balanced(const std::vector<TokenIndex>& starts, std::size_t from) const {
    constexpr std::size_t starts_max = 64;
    std::vector<TokenKind> open;
    for (std::size_t next = from + 1; next < starts.size() && next <= from + starts_max; ++next) {
      for (TokenIndex at = starts[next - 1]; at < starts[next]; ++at) {
        const TokenKind kind = tokens_[at].kind;
        if (const TokenKind closing = closing_of(kind); closing != TokenKind::End) {
          open.push_back(closing);
        } else if (closes(kind)) {
          if (open.empty() || open.back() != kind) return std::nullopt;
          open.pop_back();
        }
      }
      if (open.empty()) return next;
    }
    return std::nullopt;
  }

  void find_lines() {
    line_of_.resize(tokens_.size());
    bool at_start = true;
    std::uint32_t line_start = 0;
    for (TokenIndex at = 0; at < tokens_.size(); ++at) {
      const Token& token = tokens_[at];
      if (is_trivia(token.kind) || token.kind == TokenKind::End) {
        line_of_[at] = lines_.empty() ? 0 : lines_.size() - 1;
      } else {
        if (at_start) lines_.push_back({at, at, token.offset - line_start});
        at_start = false;
        lines_.back().last = at;
        line_of_[at] = lines_.size() - 1;
      }
      const std::string_view text = file_.text().substr(token.offset, token.length);
      if (const std::size_t newline = text.rfind('\n'); newline != std::string_view::npos) {
        at_start = true;
        line_start = token.offset + static_cast<std::uint32_t>(newline) + 1;
      }
    }
  }

  bool starts_item(const Line& line) const {
    if (line.indent > 0) return false;
    const TokenKind kind = tokens_[line.first].kind;
    if (kind != TokenKind::Identifier) return is_item_keyword(kind);
    const std::string_view word = text(line.first);
    return line.last > line.first && (word == "agent" || word == "type" || word == "impl" || word == "test");
  }

  void repair(TokenIndex begin, TokenIndex end) {
    if (is_balanced(begin, end)) return;
    open_.clear();
    region_begin_ = significant_from(begin);
    for (TokenIndex at = begin; at < end; ++at) {
      const TokenKind kind = tokens_[at].kind;
      if (const TokenKind closing = closing_of(kind); closing != TokenKind::End) {
        open_.push_back({at, closing, line_of_[at]});
      } else if (closes(kind)) {
        close(at);
      }
    }
    while (!open_.empty()) pop_unclosed(end);
  }

  void close(TokenIndex at) {
    const TokenKind kind = tokens_[at].kind;
    const Line& line = lines_[line_of_[at]];
    if (line.first == at && kind != TokenKind::TemplateEnd && close_by_indentation(at, line)) return;
    if (!open_.empty() && open_.back().closing == kind && !is_block_above(open_.back(), at)) return open_.pop_back();
    // Not across the start of a template, or of a block whose end has its own line.
    std::size_t partner = open_.size();
    for (; partner > lowest_partner() && open_[partner - 1].closing != kind; --partner) {
      const Open& other = open_[partner - 1];
      const bool is_block = other.closing == TokenKind::RightBrace && ends_line(other.token);
      if (other.closing == TokenKind::TemplateEnd || is_block) return refuse(at);
    }
    if (partner == lowest_partner() || is_block_above(open_[partner - 1], at)) return refuse(at);
    while (open_.size() > partner) pop_unclosed(at);
    open_.pop_back();
  }

  /// Whether the bracket starts a block of several lines, which a `}` in the middle of a line does not close.
  [[nodiscard]] bool is_block_above(const Open& open, TokenIndex at) const {
    return open.closing == TokenKind::RightBrace && ends_line(open.token) && lines_[line_of_[at]].first != at &&
           line_of_[at] != open.line;
  }

  /// Closes by a bracket that starts its line. Returns false if the indentation does not determine what it closes.
  bool close_by_indentation(TokenIndex at, const Line& line) {
    const TokenKind kind = tokens_[at].kind;
    for (std::size_t partner = open_.size(); partner-- > lowest_partner();) {
      if (open_[partner].closing == TokenKind::TemplateEnd) return false;
      if (open_[partner].closing != kind || indent(open_[partner]) != line.indent) continue;
      while (open_.size() > partner + 1) pop_unclosed(at);
      open_.pop_back();
      return true;
    }
    // An unreadable line may contain the closing brackets of those that it opens.
    while (!open_.empty() && indent(open_.back()) >= line.indent && open_.back().closing != TokenKind::TemplateEnd &&
           is_damaged_at(tokens_[open_.back().token].offset)) {
      pop_unclosed(at);
    }
    if (!open_.empty() && indent(open_.back()) >= line.indent) return false;
    // Indented deeper than everything that is open: the opening bracket is missing on the line that this one closes.
    std::size_t head = line_of_[at];
    const std::size_t outer = open_.empty() ? line_of_[region_begin_] : open_.back().line + 1;
    const std::size_t first = std::max(outer, head - std::min(head, searched_lines_max));
    while (head > first && lines_[head - 1].indent > line.indent) --head;
    const bool has_body = head < line_of_[at];
    if (head == 0 || head - 1 < outer || lines_[head - 1].indent != line.indent || !has_body) {
      refuse(at);
      return true;
    }
    const TokenKind opening = kind == TokenKind::RightBrace         ? TokenKind::LeftBrace
                              : kind == TokenKind::RightParenthesis ? TokenKind::LeftParenthesis
                                                                    : TokenKind::LeftBracket;
    const TokenIndex last = lines_[head - 1].last;
    const std::uint32_t offset = tokens_[last].offset + tokens_[last].length;
    insertions_.push_back({last + 1, {opening, false, offset, 0}});
    if (take_line(offset)) {
      diagnostics_.report(diagnostics::Expected, {file_.id(), offset, 0}, "end of line", describe(opening));
    }
    return true;
  }

  /// The last token that a parenthesis or bracket in the head of a block can contain, as in `if f(x {`.
  [[nodiscard]] std::optional<TokenIndex> end_of_head(const Open& open) const {
    const Line& line = lines_[open.line];
    if (open.closing == TokenKind::RightBrace || open.closing == TokenKind::TemplateEnd) return {};
    const auto is_head = [&](TokenIndex at) {
      const TokenKind kind = tokens_[at].kind;
      return kind == TokenKind::Fn || kind == TokenKind::If || kind == TokenKind::While || kind == TokenKind::For ||
             kind == TokenKind::Match;
    };
    TokenKind head = TokenKind::End;
    for (TokenIndex at = line.first; at < open.token; ++at) head = is_head(at) ? tokens_[at].kind : head;
    TokenIndex end = line.last;
    for (TokenIndex at = line.last; head == TokenKind::Fn && at > open.token; --at) {
      if (tokens_[at].kind == TokenKind::LeftBrace) end = at;
    }
    if (head == TokenKind::End || tokens_[end].kind != TokenKind::LeftBrace || end <= open.token) return {};
    for (TokenIndex at = open.token + 1, block = end; at < block; ++at) {
      if (tokens_[at].kind == TokenKind::Pipe) return {};  // the block of a closure
      if (tokens_[at].kind == TokenKind::Arrow) end = at;
    }
    do --end;
    while (is_trivia(tokens_[end].kind));
    return end;
  }

  /// Inserts the missing end of the innermost open bracket, before the token `limit`.
  void pop_unclosed(TokenIndex limit) {
    const Open open = open_.back();
    open_.pop_back();
    TokenIndex last = lines_[open.line].last;
    const bool is_unreadable = is_damaged_at(tokens_[open.token].offset) && !ends_line(open.token);
    const std::optional<TokenIndex> head_end = is_unreadable ? std::optional(last) : end_of_head(open);
    if (head_end) last = *head_end;
    for (std::size_t at = open.line + 1; !head_end && at < lines_.size() && lines_[at].first < limit; ++at) {
      const bool is_within = lines_[at].indent > indent(open) || open.closing == TokenKind::TemplateEnd;
      const bool is_end_of_part = open.closing != TokenKind::RightBrace && lines_[at].indent == indent(open) &&
                                  closes(tokens_[lines_[at].first].kind);
      if (!is_within && !is_end_of_part) break;
      last = lines_[at].last;
    }
    if (last >= limit) {
      last = limit - 1;
      while (last > open.token && is_trivia(tokens_[last].kind)) --last;
    }
    while (last > open.token + 1 && (tokens_[last].kind == TokenKind::Semicolon || is_trivia(tokens_[last].kind)))
      --last;
    const std::uint32_t offset = tokens_[last].offset + tokens_[last].length;
    const bool is_known = !insertions_.empty() && insertions_.back().token.offset == offset;
    insertions_.push_back({last + 1, {open.closing, false, offset, 0}});
    if (is_known) return;
    const bool is_block = open.closing == TokenKind::RightBrace && ends_line(open.token);
    if (is_block ? is_damaged_at(offset) : !take_line(offset)) return;
    TokenIndex next = last + 1;
    while (next + 1 < tokens_.size() && is_trivia(tokens_[next].kind) && tokens_[next].kind != TokenKind::Newline)
      ++next;
    const bool is_end = next + 1 == tokens_.size() || significant_from(next) + 1 == tokens_.size();
    const std::string found = is_end                                        ? "end of file"
                              : tokens_[next].kind == TokenKind::Newline    ? "end of line"
                              : tokens_[next].kind == TokenKind::Identifier ? "`" + std::string(text(next)) + "`"
                                                                            : std::string(describe(tokens_[next].kind));
    diagnostics_.report(diagnostics::Expected, {file_.id(), offset, 0}, found, describe(open.closing))
        .label({file_.id(), tokens_[open.token].offset, tokens_[open.token].length},
               "this " + std::string(describe(tokens_[open.token].kind)) + " is still open");
  }

  void refuse(TokenIndex at) {
    const Token token = tokens_[at];
    tokens_[at].kind = TokenKind::Unknown;
    if (!take_line(token.offset)) return;
    diagnostics_.report(diagnostics::UnmatchedBracket, {file_.id(), token.offset, token.length}, describe(token.kind));
  }

  /// The outermost open bracket that is searched.
  [[nodiscard]] std::size_t lowest_partner() const { return open_.size() - std::min(open_.size(), searched_depth_max); }

  /// Adds the line at `offset` to the damage. Returns false if it is already damaged.
  bool take_line(std::uint32_t offset) {
    if (is_damaged_at(offset)) return false;
    const source::Span line = line_at(file_, offset);
    taken_lines_.emplace(line.offset, line);
    return true;
  }

  [[nodiscard]] bool is_damaged_at(std::uint32_t offset) const {
    const auto after = taken_lines_.upper_bound(offset);
    const bool is_taken = after != taken_lines_.begin() && offset <= std::prev(after)->second.end();
    return is_taken || is_damaged(damage_, offset);
  }

  void insert_all() {
    std::ranges::stable_sort(insertions_, {}, &Insertion::before);
    std::vector<Token> all;
    all.reserve(tokens_.size() + insertions_.size());
    auto next = insertions_.begin();
    for (TokenIndex at = 0; at < tokens_.size(); ++at) {
      for (; next != insertions_.end() && next->before == at; ++next) all.push_back(next->token);
      all.push_back(tokens_[at]);
    }
    tokens_ = std::move(all);
  }

  [[nodiscard]] std::string_view text(TokenIndex at) const {
    return file_.text().substr(tokens_[at].offset, tokens_[at].length);
  }
  [[nodiscard]] std::uint32_t indent(const Open& open) const { return lines_[open.line].indent; }
  [[nodiscard]] bool ends_line(TokenIndex token) const { return lines_[line_of_[token]].last == token; }
  [[nodiscard]] TokenIndex significant_from(TokenIndex at) const {
    while (at + 1 < tokens_.size() && is_trivia(tokens_[at].kind)) ++at;
    return at;
  }

  const source::SourceFile& file_;
  std::vector<Token>& tokens_;
  diagnostics::Diagnostics& diagnostics_;
  std::vector<source::Span>& damage_;  ///< from before
  /// Lines that are damaged too, by their offsets. Brackets are closed from the innermost, so that new ones come first.
  std::map<std::uint32_t, source::Span> taken_lines_;
  std::vector<Line> lines_;
  std::vector<std::size_t> line_of_;  ///< by token
  std::vector<Open> open_;
  TokenIndex region_begin_ = 0;  ///< the first token of the declaration that is repaired
  std::vector<Insertion> insertions_;
};

}  // namespace

void balance_brackets(const source::SourceFile& file, std::vector<Token>& tokens, diagnostics::Diagnostics& diagnostics,
                      std::vector<source::Span>& damage) {
  BracketBalancer(file, tokens, diagnostics, damage).run();
}

}  // namespace tenon::syntax
