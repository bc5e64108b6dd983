#include "syntax/parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ranges>
#include <utility>

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
  if (at(TokenKind::StringStart) && !text_here().starts_with('"'))
    return true;  // in quotes that the lexer has reported
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

namespace {

/// A node that is a link of a chain: the link before it, or after it in `else if`, is its child.
enum class Chain : std::uint8_t { None, ElseIf, TemplateElseIf, Operators, Calls };

Chain chain_of(const Node& node, const Node& child) {
  if (node.kind == NodeKind::IfExpression && child.kind == NodeKind::IfExpression) return Chain::ElseIf;
  if (node.kind == NodeKind::TemplateIf && child.kind == NodeKind::TemplateIf) return Chain::TemplateElseIf;
  if (node.first_token != child.first_token) return Chain::None;
  switch (node.kind) {
    case NodeKind::BinaryExpression:
    case NodeKind::CastExpression:
    case NodeKind::CatchExpression:
    case NodeKind::FinallyExpression:
      return Chain::Operators;
    case NodeKind::CallExpression:
    case NodeKind::MethodCallExpression:
    case NodeKind::FieldExpression:
    case NodeKind::IndexExpression:
    case NodeKind::TryExpression:
      return Chain::Calls;
    default:
      return Chain::None;
  }
}

std::string_view describe(Chain chain) {
  switch (chain) {
    case Chain::ElseIf:
      return "`else if`";
    case Chain::TemplateElseIf:
      return "`{{ else if … }}`";
    case Chain::Operators:
      return "operators";
    case Chain::Calls:
    case Chain::None:
      return "calls";
  }
  return "";
}

std::string_view way_out(Chain chain) {
  switch (chain) {
    case Chain::ElseIf:
      return "use `match`, or separate functions";
    case Chain::TemplateElseIf:
      return "insert the value of a `match`: `{{ match … { … } }}`";
    default:
      return "split it up with `let` or separate functions";
  }
}

}  // namespace

void Parser::give_up_at(const Node& node) {
  struct Links {
    std::size_t count = 0;
    TokenIndex first = 0;
  };
  std::array<Links, static_cast<std::size_t>(Chain::Calls) + 1> found;
  for (const Node* at = &node; at->first_child.exists();) {
    const Node* highest = &tree_[at->first_child];
    for (NodeId child = at->first_child; child.exists(); child = tree_[child].next_sibling) {
      if (tree_[child].height > highest->height) highest = &tree_[child];
    }
    Links& links = found[static_cast<std::size_t>(chain_of(*at, *highest))];
    if (links.count++ == 0) links.first = at->first_token;
    at = highest;
  }
  const auto longest = std::max_element(found.begin() + 1, found.end(),
                                        [](const Links& left, const Links& right) { return left.count < right.count; });
  if (!gave_up_ && longest->count > tree_height_max / 2) {
    const auto chain = static_cast<Chain>(longest - found.begin());
    const bool is_open = links_start_ != SIZE_MAX && (chain == Chain::ElseIf || chain == Chain::TemplateElseIf);
    const TokenIndex first = is_open ? index(links_start_) : longest->first;
    diagnostics_.report(diagnostics::ChainTooLong, tree_.span(first), describe(chain))
        .hint(fmt::format("a chain can have about {} links: {}", tree_height_max, way_out(chain)));
    gave_up_ = true;
  }
  give_up(tree_height_max);
}

void Parser::close_links(std::span<const Mark> links, NodeKind kind) {
  if (links.empty()) return;
  const std::size_t outer = std::exchange(links_start_, links.front().token);
  for (const Mark& mark : std::views::reverse(links)) close(mark, kind);
  links_start_ = outer;
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
    give_up_at(node);
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
