#include "syntax/parser.h"

#include <algorithm>

#include "diagnostics/kinds.h"
#include "syntax/damage.h"

namespace tenon::syntax {

Parser::Parser(SyntaxTree& tree, diagnostics::Diagnostics& diagnostics)
    : TokenCursor(tree), tree_(tree), diagnostics_(diagnostics) {
  recovery_.unreadable = tree.damage;
}

TokenIndex Parser::advance() {
  const TokenIndex index = here();
  const TokenKind kind = peek();
  if (kind == TokenKind::End) return index;
  move_to_next();
  const bool is_separator = kind == TokenKind::Semicolon || kind == TokenKind::Comma;
  if (recovery_.is_active && (is_separator || at_recovery_end())) end_recovery();
  return index;
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
  if (auto* report = report_expected(wanted)) {
    report->label(tree_.span(opening), "this " + std::string(describe(tree_.tokens[opening].kind)) + " is not closed");
  }
  return false;
}

TokenIndex Parser::expect_name(std::string_view wanted) {
  if (at(TokenKind::Identifier)) return advance();
  report_expected(wanted);
  return here();
}

void Parser::mark_reported(ErrorPlace place) {
  recovery_.reported_position = position();
  const bool is_before = place == ErrorPlace::EndOfLastLine;
  const std::uint32_t offset = is_before ? last_token().offset : token().offset;
  source::Span& line = recovery_.line;
  if (line.length == 0 || offset < line.offset || offset > line.end()) line = line_at(file(), offset);
  recovery_.column = file().text(line).find_first_not_of(" \t\r");
  const std::uint32_t begin = std::min(enclosing_.statement_start, offset);
  add_damage(tree_.damage, {file().id(), begin, line.end() - begin});
  recovery_.is_active = !is_before || !at_recovery_end();
}

void Parser::end_recovery() {
  recovery_.is_active = false;
  if (position() == 0) return;
  const Token& last = last_token();
  const std::uint32_t begin = std::min(token().offset, tree_.tokens[index(recovery_.reported_position)].offset);
  const std::uint32_t end = last.offset + last.length;
  if (begin < end) add_damage(tree_.damage, {file().id(), begin, end - begin});
}

/// The lexer has reported an unclosed string or comment, or an unknown character right here.
bool Parser::follows_from_other_error() const {
  if (gave_up_ || recovery_.is_active || recovery_.reported_position == position()) return true;
  if (is_damaged(recovery_.unreadable, token().offset)) return true;
  if (after_newline() && position() > 0 && is_damaged(recovery_.unreadable, last_token().offset)) return true;
  const TokenIndex before = position() > 0 ? last_index() : 0;
  for (TokenIndex at = here(); at-- > before;) {
    if (tree_.tokens[at].kind == TokenKind::Unknown) return true;
  }
  if (tree_.tokens[before].length == 0 || (token().length == 0 && !at(TokenKind::End))) return true;
  const TokenIndex last = here() > 0 ? here() - 1 : 0;
  return at(TokenKind::End) && tree_.tokens[last].kind == TokenKind::BlockComment && !tree_.text(last).ends_with("*/");
}

std::string Parser::describe_here() const {
  if (!at(TokenKind::Identifier)) return std::string(describe(peek()));
  return "`" + std::string(text_here().substr(0, 64)) + "`";
}

diagnostics::Diagnostic* Parser::report_expected(std::string_view wanted) {
  const Token& found = token();
  if (position() == 0 || position() == recovery_.element_start ||
      (!found.after_newline && found.kind != TokenKind::End)) {
    return report_unexpected(wanted);
  }
  const bool known = follows_from_other_error();
  mark_reported(ErrorPlace::EndOfLastLine);
  if (known) return nullptr;
  // What is missing at the end of a line is missed there, not at the start of the next one.
  const Token& before = last_token();
  const source::Span line_end{file().id(), before.offset + before.length, 0};
  const std::string what = found.kind == TokenKind::End ? describe_here() : "end of line";
  return &diagnostics_.report(diagnostics::Expected, line_end, what, wanted);
}

diagnostics::Diagnostic* Parser::report_unexpected(std::string_view wanted) {
  const bool known = follows_from_other_error() || (at(TokenKind::FatArrow) && enclosing_.arrow_reported);
  enclosing_.arrow_reported = enclosing_.arrow_reported || at(TokenKind::FatArrow);
  mark_reported();
  if (known) return nullptr;
  auto& report = diagnostics_.report(diagnostics::Expected, span_here(), describe_here(), wanted);
  hint_operator(report);
  return &report;
}

void Parser::hint_operator(diagnostics::Diagnostic& report) const {
  if (at_word("and")) report.hint("write `&&` instead of `and`");
  if (at_word("or")) report.hint("write `||` instead of `or`");
  if (position() > 0 && last_text() == "not") report.hint("write `!` instead of `not`");
}

void Parser::give_up(std::size_t limit) {
  if (!gave_up_) {
    diagnostics_.report(diagnostics::NestedTooDeeply, span_here(), limit)
        .hint("split it up with `let` or separate functions");
  }
  gave_up_ = true;
  move_to_end();
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
  node.end_token = position() > mark.token ? last_index() + 1 : node.first_token;
  for (std::size_t at = pending_.size(); at-- > mark.pending;) {
    Node& child = tree_.nodes[pending_[at].index];
    child.next_sibling = node.first_child;
    node.first_child = pending_[at];
    node.end_token = std::max(node.end_token, child.end_token);  // a child without tokens precedes the next token
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

NodeId Parser::close_or_error(Mark mark, NodeKind kind, TokenIndex main_token) {
  return close(mark, has_advanced(mark) ? kind : NodeKind::Error, main_token);
}

NodeId Parser::add_empty(NodeKind kind) {
  return close(open(), kind);
}

NodeKind Parser::last_kind_since(Mark mark) const {
  const NodeId last = last_since(mark);
  return last.exists() ? tree_.kind(last) : NodeKind::Error;
}

}  // namespace tenon::syntax
