#include "syntax/parser.h"

#include <algorithm>

#include "diagnostics/kinds.h"
#include "syntax/lexer.h"
#include "syntax/parse.h"

namespace tenon::syntax {

SyntaxTree parse(const source::SourceFile& file, diagnostics::Diagnostics& diagnostics) {
  return Parser(file, diagnostics).run();
}

Parser::Parser(const source::SourceFile& file, diagnostics::Diagnostics& diagnostics)
    : file_(file), diagnostics_(diagnostics), tree_(file) {
  tree_.tokens = lex(file, diagnostics);
  significant_.reserve(tree_.tokens.size() / 2 + 1);
  for (TokenIndex at = 0; at < tree_.tokens.size(); ++at) {
    if (!is_trivia(tree_.tokens[at].kind)) significant_.push_back(at);
  }
  tree_.nodes.reserve(significant_.size());
}

SyntaxTree Parser::run() {
  const Mark mark = open();
  while (!at(TokenKind::End)) {
    const std::size_t before = position_;
    parse_item();
    if (position_ == before) {
      report_expected("an item such as `fn` or `struct`");
      skip_to_item();
    }
  }
  tree_.root = close(mark, NodeKind::File);
  Node& root = tree_.nodes[tree_.root.index];
  root.first_token = 0;
  root.end_token = static_cast<TokenIndex>(tree_.tokens.size());
  return std::move(tree_);
}

const Token& Parser::token(std::size_t ahead) const {
  return tree_.tokens[significant_[std::min(position_ + ahead, significant_.size() - 1)]];
}

TokenIndex Parser::index(std::size_t position) const { return significant_[std::min(position, significant_.size() - 1)]; }

bool Parser::at_word(std::string_view word, std::size_t ahead) const {
  return peek(ahead) == TokenKind::Identifier && tree_.text(index(position_ + ahead)) == word;
}

TokenIndex Parser::advance() {
  const TokenIndex here = index(position_);
  if (position_ + 1 < significant_.size()) ++position_;
  return here;
}

bool Parser::accept(TokenKind kind) {
  if (!at(kind)) return false;
  advance();
  return true;
}

bool Parser::expect(TokenKind kind) { return expect(kind, describe(kind)); }

bool Parser::expect(TokenKind kind, std::string_view wanted) {
  if (accept(kind)) return true;
  report_expected(wanted);
  return false;
}

void Parser::report_expected(std::string_view wanted) {
  if (gave_up_ || reported_position_ == position_) return;
  reported_position_ = position_;
  const Token& found = token();
  std::string what(describe(found.kind));
  if (found.kind == TokenKind::Identifier) what = "`" + std::string(tree_.text(index(position_)).substr(0, 64)) + "`";
  source::Span span = tree_.span(index(position_));
  // What is missing at the end of a line is missed there, not at the start of the next one.
  if (position_ > 0 && (found.after_newline || found.kind == TokenKind::End)) {
    const Token& before = tree_.tokens[index(position_ - 1)];
    span = {file_.id(), before.offset + before.length, 0};
    if (found.kind != TokenKind::End) what = "the end of the line";
  }
  diagnostics_.report(diagnostics::Expected, span, what, wanted);
}

void Parser::give_up() {
  if (!gave_up_) {
    diagnostics_.report(diagnostics::NestedTooDeeply, tree_.span(index(position_)), nesting_depth_max)
        .hint("give parts of it names, with `let` or as functions of their own");
  }
  gave_up_ = true;
  position_ = significant_.size() - 1;
}

Parser::Mark Parser::open_before_last() const {
  const Node& last = tree_.nodes[pending_.back().index];
  const auto found = std::lower_bound(significant_.begin(), significant_.end(), last.first_token);
  return {pending_.size() - 1, static_cast<std::size_t>(found - significant_.begin())};
}

NodeId Parser::close(Mark mark, NodeKind kind) { return close(mark, kind, index(mark.token)); }

NodeId Parser::close(Mark mark, NodeKind kind, TokenIndex main_token) {
  const NodeId id{static_cast<std::uint32_t>(tree_.nodes.size())};
  Node node;
  node.kind = kind;
  node.main_token = main_token;
  node.first_token = index(mark.token);
  node.end_token = position_ > mark.token ? index(position_ - 1) + 1 : node.first_token;
  if (gave_up_ && position_ > mark.token) node.end_token = index(position_) + 1;
  for (std::size_t at = pending_.size(); at-- > mark.pending;) {
    Node& child = tree_.nodes[pending_[at].index];
    child.next_sibling = node.first_child;
    node.first_child = pending_[at];
    node.height = std::max<std::uint16_t>(node.height, static_cast<std::uint16_t>(child.height + 1));
  }
  pending_.resize(mark.pending);
  if (node.height > tree_height_max) {
    give_up();
    node.kind = NodeKind::Error;
    node.first_child = NodeId{};
    node.height = 0;
  }
  tree_.nodes.push_back(node);
  pending_.push_back(id);
  return id;
}

NodeId Parser::add_empty(NodeKind kind) { return close(open(), kind); }

void Parser::skip_to(std::initializer_list<TokenKind> stops) {
  std::size_t depth = 0;
  const Mark mark = open();
  while (!at(TokenKind::End)) {
    const TokenKind kind = peek();
    if (depth == 0) {
      if (std::find(stops.begin(), stops.end(), kind) != stops.end()) break;
      if (at_line_end() && position_ != mark.token) break;
      if (kind == TokenKind::RightBrace || kind == TokenKind::RightParenthesis || kind == TokenKind::RightBracket) break;
    }
    if (kind == TokenKind::LeftBrace || kind == TokenKind::LeftParenthesis || kind == TokenKind::LeftBracket) ++depth;
    if (kind == TokenKind::RightBrace || kind == TokenKind::RightParenthesis || kind == TokenKind::RightBracket) --depth;
    advance();
  }
  if (position_ != mark.token) close(mark, NodeKind::Error);
}

}  // namespace tenon::syntax
