// The blocks of an agent: `block name: kind { option: value … -> next }`. Which kinds there are, and what each of them
// takes, is not the grammar's business, but for `code` and `set`, which hold statements.

#include <utility>

#include "syntax/parser.h"

namespace tenon::syntax {

/// `block` before a name, which is no name itself there.
bool Parser::at_block_item() const {
  if (peek(1) != TokenKind::Identifier || token(1).after_newline || !at_word("block")) return false;
  return !at_expression_tail(1) && peek(2) != TokenKind::LeftParenthesis;
}

/// Whether a line begins here that is an option or a `->`, so that a value which is missing before it does not swallow
/// it.
bool Parser::at_next_block_part() const {
  if (!after_newline()) return false;
  return at(TokenKind::Arrow) || (at(TokenKind::Identifier) && (peek(1) == TokenKind::Colon || at_block_item()));
}

/// The same no further in than the part that is being read, which thus has ended.
bool Parser::at_outer_block_part() const {
  return part_column_ != SIZE_MAX && at_next_block_part() && column() <= part_column_;
}

/// What a word is followed by stands on its line.
TokenIndex Parser::parse_name_behind(std::string_view wanted) {
  if (!after_newline()) return parse_name(wanted);
  report_expected(wanted);
  return index(position_);
}

TokenIndex Parser::parse_target() {
  const bool has_arrow = expect(TokenKind::Arrow, "`->` and the name of the next block");
  if (at(TokenKind::Identifier) && !at_line_end()) return advance();
  if (has_arrow) report_expected("the name of the next block");
  return index(position_);
}

void Parser::parse_block_item() {
  const Nesting nesting(*this);
  const Mark mark = open();
  const std::size_t outer_column = std::exchange(item_column_, column());
  const Setting lines(rules_.newlines, true);
  advance();
  const TokenIndex name = parse_name_behind("a block name");
  const bool has_colon = expect(TokenKind::Colon, "`:` and a block kind such as `request`");
  bool holds_statements = false;
  if (at(TokenKind::Identifier) && !after_newline()) {
    holds_statements = at_word("code") || at_word("set");
    advance();
  } else if (has_colon) {
    report_expected("a block kind such as `request`");
  }
  const TokenIndex opening = index(position_);
  if (expect(TokenKind::LeftBrace, "`{` and the body of the block")) {
    if (holds_statements) {
      parse_block_statements();
    } else {
      parse_block_parts();
    }
    expect_closing(TokenKind::RightBrace, "`}`", opening);
  } else if (at_next_block_part() && column() > item_column_) {
    parse_block_parts();
    expect(TokenKind::RightBrace);
  }
  item_column_ = outer_column;
  close(mark, NodeKind::BlockItem, name);
}

void Parser::parse_block_statements() {
  const Mark body = open();
  {
    const Setting arrows(rules_.arrow_ends_statement, true);
    const std::size_t outer_column = std::exchange(part_column_, SIZE_MAX);
    parse_statements();
    part_column_ = outer_column;
  }
  close(body, NodeKind::Block);
  if (at(TokenKind::Arrow)) parse_block_parts();
}

void Parser::parse_block_parts() {
  const bool indented = after_newline() && column() > item_column_;
  const std::size_t outer_column = part_column_;
  bool ended = false;
  while (!at(TokenKind::RightBrace) && !at_end()) {
    if (at_declaration() && (indented || !at_block_item())) break;
    if (accept(TokenKind::Comma)) continue;
    if (ended) report_unexpected("`}` (`-> …` must be the last part of a block)");
    ended = at(TokenKind::Arrow);
    part_column_ = column();
    if (!at_block_part()) {
      report_unexpected("a block part such as `prompt: \"…\"` or `-> next`");
      const Mark error = open();
      advance();
      close(error, NodeKind::Error);
      if (!after_newline()) skip_to({TokenKind::Comma});
      continue;
    }
    parse_block_part();
    if (at(TokenKind::RightBrace) || at(TokenKind::Comma) || at(TokenKind::Arrow)) continue;
    if (after_newline() || tree_.tokens[last_index()].kind == TokenKind::RightBrace) continue;
    report_expected("`,` or a line end");
    skip_to({TokenKind::Comma});
  }
  part_column_ = outer_column;
}

/// A name that nothing follows is an option that somebody begins to write.
bool Parser::at_block_part() const {
  if (at(TokenKind::Arrow) || at(TokenKind::Else)) return true;
  if (!at(TokenKind::Identifier)) return false;
  if (peek(1) == TokenKind::Colon || token(1).after_newline) return true;
  const bool clause = at_word("when") || at_word("on") || at_word("to") || at_word("called") || at_word("item") ||
                      at_word("branch") || at_word("block");
  return clause || recovery_.reported_position != position_;
}

void Parser::parse_block_part() {
  const Mark mark = open();
  if (at(TokenKind::Arrow)) {
    const TokenIndex target = parse_target();
    close(mark, NodeKind::NextClause, target);
  } else if (accept(TokenKind::Else)) {
    const TokenIndex target = parse_target();
    close(mark, NodeKind::ElseClause, target);
  } else if (peek(1) == TokenKind::Colon) {
    parse_block_option();
  } else if (at_word("when")) {
    parse_when_clause();
  } else if (at_word("on")) {
    parse_on_clause();
  } else if (at_word("to")) {
    parse_to_clause();
  } else if (at_word("called")) {
    parse_called_clause();
  } else if (at_word("item")) {
    parse_item_clause();
  } else if (at_word("branch")) {
    parse_branch();
  } else if (at_word("block")) {
    parse_block_item();
  } else {
    parse_block_option();
  }
}

void Parser::parse_block_option() {
  const Mark mark = open();
  const TokenIndex name = advance();
  if (expect(TokenKind::Colon, "`:` and a value for the option")) {
    if (at_next_block_part()) {
      report_expected("a value for the option");
    } else {
      parse_element_expression();
    }
  }
  close(mark, NodeKind::BlockOption, name);
}

void Parser::parse_when_clause() {
  const Mark mark = open();
  advance();
  if (after_newline()) {
    report_expected("a condition");
    close(mark, NodeKind::WhenClause);
    return;
  }
  parse_element_expression();
  const TokenIndex target = parse_target();
  close(mark, NodeKind::WhenClause, target);
}

void Parser::parse_to_clause() {
  const Mark mark = open();
  advance();
  const TokenIndex target = parse_name_behind("the name of the next block");
  expect(TokenKind::Colon, "`:` and a description for the model");
  if (at(TokenKind::StringStart)) {
    parse_string();
  } else {
    report_expected("a quoted description for the model");
  }
  close(mark, NodeKind::ToClause, target);
}

void Parser::parse_on_clause() {
  const Mark mark = open();
  advance();
  if (after_newline()) {
    report_expected("a value to match");
    close(mark, NodeKind::OnClause);
    return;
  }
  parse_expression_without_struct_literals();
  if (expect(TokenKind::LeftBrace, "`{` and a case such as `\"billing\" -> bills`")) {
    parse_elements(TokenKind::RightBrace, Separator::CommaOrLineEnd, "`,` or `}`", [&] {
      const Mark arm = open();
      if (!accept(TokenKind::Else)) parse_pattern();
      const TokenIndex target = parse_target();
      close(arm, position_ == arm.token ? NodeKind::Error : NodeKind::OnArm, target);
    });
  }
  close(mark, NodeKind::OnClause);
}

void Parser::parse_called_clause() {
  const Mark mark = open();
  advance();
  if (at(TokenKind::Arrow)) {
    report_expected("a tool name");
  } else {
    parse_name_behind("a tool name");
  }
  const TokenIndex target = parse_target();
  close(mark, NodeKind::CalledClause, target);
}

void Parser::parse_item_clause() {
  const Mark mark = open();
  advance();
  const TokenIndex name = parse_name_behind("an item name");
  if (expect(TokenKind::Colon, "`:` and the type of the item")) {
    const Setting ranges(rules_.type_ranges, false);
    parse_type();
  } else {
    add_empty(NodeKind::Error);
  }
  if (expect(TokenKind::In, "`in` and a list")) parse_element_expression();
  close(mark, NodeKind::ItemClause, name);
}

void Parser::parse_branch() {
  const Mark mark = open();
  const std::size_t outer_column = std::exchange(item_column_, column());
  advance();
  const TokenIndex name = parse_name_behind("a branch name");
  parse_block_list();
  item_column_ = outer_column;
  close(mark, NodeKind::BranchItem, name);
}

void Parser::parse_turn_section() {
  const Mark mark = open();
  const std::size_t outer_column = std::exchange(item_column_, column());
  advance();
  parse_block_list();
  item_column_ = outer_column;
  close(mark, NodeKind::TurnSection);
}

void Parser::parse_block_list() {
  const TokenIndex opening = index(position_);
  if (!expect(TokenKind::LeftBrace, "`{` and blocks")) return;
  const bool indented = after_newline() && column() > item_column_;
  while (!at(TokenKind::RightBrace) && !at_end()) {
    if (at_declaration() && (indented || !at_block_item())) break;
    if (at_word("branch") && after_newline() && column() <= item_column_) break;
    if (at_word("block")) {
      parse_block_item();
      continue;
    }
    report_unexpected("a block such as `block name: request { … }`");
    skip_to_part(Parts::AgentParts);
  }
  expect_closing(TokenKind::RightBrace, "`}`", opening);
}

void Parser::parse_naming_section(NodeKind kind, std::string_view wanted) {
  const Mark mark = open();
  const TokenIndex word = advance();
  if (after_newline()) {
    report_expected(wanted);
    close(mark, kind, word);
    return;
  }
  const TokenIndex name = parse_name(wanted);
  close(mark, kind, name);
}

}  // namespace tenon::syntax
