#include "syntax/parser.h"

#include <algorithm>

#include "diagnostics/kinds.h"
#include "syntax/brackets.h"
#include "syntax/damage.h"
#include "syntax/foreign_words.h"
#include "syntax/lexer.h"
#include "syntax/parse.h"

namespace tenon::syntax {
namespace {

bool is_opening(TokenKind kind) {
  return kind == TokenKind::LeftBrace || kind == TokenKind::LeftParenthesis || kind == TokenKind::LeftBracket ||
         kind == TokenKind::TemplateStart;
}
bool is_closing(TokenKind kind) {
  return kind == TokenKind::RightBrace || kind == TokenKind::RightParenthesis || kind == TokenKind::RightBracket ||
         kind == TokenKind::TemplateEnd;
}

}  // namespace

SyntaxTree parse(const source::SourceFile& file, diagnostics::Diagnostics& diagnostics) {
  return Parser(file, diagnostics).run();
}

Parser::Parser(const source::SourceFile& file, diagnostics::Diagnostics& diagnostics)
    : file_(file), diagnostics_(diagnostics), tree_(file) {
  diagnostics::Diagnostics lexical;
  tree_.tokens = lex(file, lexical);
  report_lexical(file, lexical, diagnostics, tree_.damage);
  balance_brackets(file, tree_.tokens, diagnostics, tree_.damage);
  recovery_.unreadable = tree_.damage;
  significant_.reserve(tree_.tokens.size() / 2 + end_padding);
  kinds_.reserve(tree_.tokens.size() / 2 + end_padding);
  const auto add = [this](TokenIndex at) {
    significant_.push_back(at);
    kinds_.push_back(tree_.tokens[at].kind);
  };
  for (TokenIndex at = 0; at < tree_.tokens.size(); ++at) {
    if (!is_trivia(tree_.tokens[at].kind)) add(at);
  }
  for (std::size_t padding = 0; padding < end_padding; ++padding) add(significant_.back());
  tree_.nodes.reserve(significant_.size());
}

SyntaxTree Parser::run() {
  const Mark mark = open();
  while (!at(TokenKind::End)) {
    const std::size_t before = position_;
    parse_item();
    if (position_ == before) {
      if (auto* told = report_unexpected("an item such as `fn` or `struct`"))
        hint_foreign_word(*told, tree_.text(index(position_)), tree_.span(index(position_)));
      skip_to_item();
    }
  }
  tree_.root = close(mark, NodeKind::File);
  Node& root = tree_.nodes[tree_.root.index];
  root.first_token = 0;
  root.end_token = static_cast<TokenIndex>(tree_.tokens.size());
  return std::move(tree_);
}

bool Parser::at_word(std::string_view word, std::size_t ahead) const {
  return peek(ahead) == TokenKind::Identifier && tree_.text(index(position_ + ahead)) == word;
}

TokenIndex Parser::advance() {
  const TokenIndex here = index(position_);
  const TokenKind kind = peek();
  if (kind == TokenKind::End) return here;
  ++position_;
  const bool is_separator = kind == TokenKind::Semicolon || kind == TokenKind::Comma;
  if (recovery_.is_active && (is_separator || at_recovery_end())) end_recovery();
  return here;
}

bool Parser::expect(TokenKind kind) {
  return expect(kind, describe(kind));
}

bool Parser::expect(TokenKind kind, std::string_view wanted) {
  if (accept(kind)) return true;
  report_expected(wanted);
  return false;
}

bool Parser::expect_closing(TokenKind kind, std::string_view wanted, TokenIndex opening) {
  if (accept(kind)) return true;
  if (auto* told = report_expected(wanted)) {
    told->label(tree_.span(opening), "this " + std::string(describe(tree_.tokens[opening].kind)) + " is not closed");
  }
  return false;
}

void Parser::mark_reported(ErrorPlace place) {
  recovery_.reported_position = position_;
  const bool is_before = place == ErrorPlace::EndOfLastLine;
  const std::uint32_t offset = is_before ? tree_.tokens[last_index()].offset : token().offset;
  source::Span& line = recovery_.line;
  if (line.length == 0 || offset < line.offset || offset > line.end()) line = line_at(file_, offset);
  recovery_.column = file_.text(line).find_first_not_of(" \t\r");
  const std::uint32_t begin = std::min(recovery_.statement_start, offset);
  add_damage(tree_.damage, {file_.id(), begin, line.end() - begin});
  recovery_.is_active = !is_before || !at_recovery_end();
}

void Parser::end_recovery() {
  recovery_.is_active = false;
  if (position_ == 0) return;
  const Token& last = tree_.tokens[last_index()];
  const std::uint32_t begin = std::min(token(0).offset, tree_.tokens[index(recovery_.reported_position)].offset);
  const std::uint32_t end = last.offset + last.length;
  if (begin < end) add_damage(tree_.damage, {file_.id(), begin, end - begin});
}

/// The lexer has told of a string or comment without an end, or of an unknown character right here.
bool Parser::follows_from_other_error() const {
  if (gave_up_ || recovery_.is_active || recovery_.reported_position == position_) return true;
  if (is_damaged(recovery_.unreadable, token().offset)) return true;
  if (after_newline() && position_ > 0 && is_damaged(recovery_.unreadable, tree_.tokens[last_index()].offset))
    return true;
  const TokenIndex here = index(position_);
  const TokenIndex before = position_ > 0 ? index(position_ - 1) : 0;
  for (TokenIndex at = here; at-- > before;) {
    if (tree_.tokens[at].kind == TokenKind::Unknown) return true;
  }
  if (tree_.tokens[before].length == 0 || (tree_.tokens[here].length == 0 && !at(TokenKind::End))) return true;
  const Token& last = tree_.tokens[here > 0 ? here - 1 : 0];
  return at(TokenKind::End) && last.kind == TokenKind::BlockComment && !tree_.text(here - 1).ends_with("*/");
}

std::string Parser::describe_here() const {
  if (!at(TokenKind::Identifier)) return std::string(describe(peek()));
  return "`" + std::string(tree_.text(index(position_)).substr(0, 64)) + "`";
}

diagnostics::Diagnostic* Parser::report_expected(std::string_view wanted) {
  const Token& found = token();
  if (position_ == 0 || position_ == recovery_.element_start || (!found.after_newline && found.kind != TokenKind::End))
    return report_unexpected(wanted);
  const bool known = follows_from_other_error();
  mark_reported(ErrorPlace::EndOfLastLine);
  if (known) return nullptr;
  // What is missing at the end of a line is missed there, not at the start of the next one.
  const Token& before = tree_.tokens[last_index()];
  const source::Span line_end{file_.id(), before.offset + before.length, 0};
  const std::string what = found.kind == TokenKind::End ? describe_here() : "end of line";
  return &diagnostics_.report(diagnostics::Expected, line_end, what, wanted);
}

diagnostics::Diagnostic* Parser::report_unexpected(std::string_view wanted) {
  const bool known = follows_from_other_error() || (at(TokenKind::FatArrow) && recovery_.arrow_reported);
  recovery_.arrow_reported = recovery_.arrow_reported || at(TokenKind::FatArrow);
  mark_reported();
  if (known) return nullptr;
  auto& told = diagnostics_.report(diagnostics::Expected, tree_.span(index(position_)), describe_here(), wanted);
  hint_operator(told);
  return &told;
}

void Parser::hint_operator(diagnostics::Diagnostic& told) const {
  if (at_word("and")) told.hint("write `&&` instead of `and`");
  if (at_word("or")) told.hint("write `||` instead of `or`");
  if (position_ > 0 && tree_.text(last_index()) == "not") told.hint("write `!` instead of `not`");
}

void Parser::give_up(std::size_t limit) {
  if (!gave_up_) {
    diagnostics_.report(diagnostics::NestedTooDeeply, tree_.span(index(position_)), limit)
        .hint("split it up with `let` or separate functions");
  }
  gave_up_ = true;
  position_ = kinds_.size() - 1 - end_padding;
}

NodeId Parser::close(Mark mark, NodeKind kind) {
  return close(mark, kind, index(mark.token));
}

NodeId Parser::close(Mark mark, NodeKind kind, TokenIndex main_token) {
  const NodeId id{static_cast<std::uint32_t>(tree_.nodes.size())};
  Node node;
  node.kind = kind;
  node.main_token = main_token;
  node.first_token = index(mark.token);
  node.end_token = position_ > mark.token ? index(position_ - 1) + 1 : node.first_token;
  for (std::size_t at = pending_.size(); at-- > mark.pending;) {
    Node& child = tree_.nodes[pending_[at].index];
    child.next_sibling = node.first_child;
    node.first_child = pending_[at];
    node.end_token = std::max(node.end_token, child.end_token);  // a child without tokens stands before the next one
    node.height = std::max<std::uint16_t>(node.height, static_cast<std::uint16_t>(child.height + 1));
  }
  pending_.resize(mark.pending);
  if (node.height > tree_height_max) {
    give_up(tree_height_max);
    node.kind = NodeKind::Error;
    node.first_child = NodeId{};
    node.height = 0;
  }
  tree_.nodes.push_back(node);
  pending_.push_back(id);
  return id;
}

NodeId Parser::add_empty(NodeKind kind) {
  return close(open(), kind);
}

std::size_t Parser::column() const {
  constexpr std::size_t column_max = 1'000;
  const std::string_view before = file_.text().substr(0, token().offset);
  std::size_t columns = 0;
  while (columns < column_max && columns < before.size() && before[before.size() - 1 - columns] != '\n') ++columns;
  return columns;
}

bool Parser::at_declaration() const {
  if (!after_newline()) return false;
  return (at_item_start() || (in_agent_ && at_agent_section())) && column() <= item_column_;
}

bool Parser::at_fresh_start() const {
  return after_newline() && (at(TokenKind::Let) || at(TokenKind::While) || at_declaration() || at_outer_block_part());
}

void Parser::skip_to(std::initializer_list<TokenKind> stops) {
  std::size_t depth = 0;
  const Mark mark = open();
  while (!at(TokenKind::End) && !at_fresh_start()) {
    const TokenKind kind = peek();
    if (depth == 0) {
      if (std::find(stops.begin(), stops.end(), kind) != stops.end()) break;
      if (at_line_end() && position_ != mark.token) break;
      if (is_closing(kind)) break;
    }
    if (is_opening(kind)) ++depth;
    if (is_closing(kind)) --depth;
    advance();
  }
  if (position_ != mark.token) close(mark, NodeKind::Error);
}

/// Whether the list that is being read has its bracket further on; then what is missing here is a separator.
bool Parser::closes_later(TokenKind close) const {
  constexpr std::size_t tokens_max = 512;
  std::size_t depth = 0;
  for (std::size_t ahead = 0; ahead < tokens_max && peek(ahead) != TokenKind::End; ++ahead) {
    const TokenKind kind = peek(ahead);
    if (depth == 0) {
      if (kind == close) return true;
      if (is_closing(kind) || kind == TokenKind::Let || kind == TokenKind::While || kind == TokenKind::Fn) return false;
      if (kind == TokenKind::Semicolon || kind == TokenKind::Equal) return false;
    }
    if (is_opening(kind)) ++depth;
    if (is_closing(kind)) --depth;
  }
  return false;
}

/// Goes to where the next element of a damaged list begins, or to its end. Returns whether there is more of the list.
bool Parser::recover_in_list(TokenKind close_kind, std::size_t element_start) {
  const Mark mark = open();
  std::size_t depth = 0;
  while (!at(TokenKind::End) && !at_fresh_start()) {
    const TokenKind kind = peek();
    if (depth == 0) {
      if (kind == TokenKind::Comma || kind == TokenKind::Semicolon || is_closing(kind)) break;
      if (after_newline() && position_ != element_start) break;
      if (kind == TokenKind::LeftBrace && close_kind == TokenKind::RightParenthesis) break;  // a body
      if (kind == TokenKind::Equal && close_kind == TokenKind::Greater) break;               // the value of a `let`
    }
    if (is_opening(kind)) ++depth;
    if (is_closing(kind)) --depth;
    advance();
  }
  if (position_ != mark.token) close(mark, NodeKind::Error);
  if (at(close_kind) || accept(TokenKind::Comma)) return true;
  return after_newline() && position_ != element_start && !at_fresh_start() && closes_later(close_kind);
}

}  // namespace tenon::syntax
