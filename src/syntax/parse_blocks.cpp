// The blocks of an agent: `block name: kind { option: value … -> next }`. The grammar does not know the kinds and their
// options, except for `code` and `set`, which contain statements.

#include "syntax/parse_blocks.h"

#include "syntax/parse_agents.h"
#include "syntax/parse_expressions.h"
#include "syntax/parse_items.h"
#include "syntax/parse_lists.h"
#include "syntax/parse_patterns.h"
#include "syntax/parse_statements.h"
#include "syntax/parse_templates.h"
#include "syntax/parse_types.h"

namespace tenon::syntax {
namespace {

/// Whether an option or a `->` starts on this line. If the value before it is missing, it is not read as that value.
bool at_next_block_part(const Parser& p) {
  if (!p.after_newline()) return false;
  return p.at(TokenKind::Arrow) || (p.at(TokenKind::Identifier) && (p.peek(1) == TokenKind::Colon || at_block_item(p)));
}

/// A name on the line of the word before it.
TokenIndex expect_name_on_line(Parser& p, std::string_view wanted) {
  if (!p.after_newline()) return p.expect_name(wanted);
  p.report_expected(wanted);
  return p.here();
}

/// `=> next`, read as `-> next`.
bool reject_fat_arrow(Parser& p) {
  if (auto* report = p.report_unexpected("`->` and the name of the next block")) {
    report->hint("an edge to the next block is written `->`").fix = {p.span_here(), "->"};
  }
  p.advance();
  return true;
}

TokenIndex parse_target(Parser& p) {
  const bool has_arrow = p.at(TokenKind::FatArrow) && !p.after_newline()
                             ? reject_fat_arrow(p)
                             : p.expect(TokenKind::Arrow, "`->` and the name of the next block");
  if (p.at(TokenKind::Identifier) && !p.at_line_end()) return p.advance();
  if (has_arrow) p.report_expected("the name of the next block");
  return p.here();
}

/// A name alone on its line is an option that is being written.
bool at_block_part(const Parser& p) {
  if (p.at(TokenKind::Arrow) || p.at(TokenKind::Else)) return true;
  if (!p.at(TokenKind::Identifier)) return false;
  if (p.peek(1) == TokenKind::Colon || p.token(1).after_newline) return true;
  const bool clause = p.at_word("when") || p.at_word("on") || p.at_word("to") || p.at_word("called") ||
                      p.at_word("item") || p.at_word("branch") || p.at_word("block");
  return clause || p.reported_position() != p.position();
}

void parse_block_option(Parser& p) {
  const Mark mark = p.open();
  const TokenIndex name = p.advance();
  if (p.expect(TokenKind::Colon, "`:` and a value for the option")) {
    if (at_next_block_part(p)) {
      p.report_expected("a value for the option");
    } else {
      parse_element_expression(p);
    }
  }
  p.close(mark, NodeKind::BlockOption, name);
}

void parse_when_clause(Parser& p) {
  const Mark mark = p.open();
  p.advance();
  if (p.after_newline()) {
    p.report_expected("a condition");
    p.close(mark, NodeKind::WhenClause);
    return;
  }
  parse_element_expression(p);
  const TokenIndex target = parse_target(p);
  p.close(mark, NodeKind::WhenClause, target);
}

void parse_to_clause(Parser& p) {
  const Mark mark = p.open();
  p.advance();
  const TokenIndex target = expect_name_on_line(p, "the name of the next block");
  p.expect(TokenKind::Colon, "`:` and a description for the model");
  if (p.at(TokenKind::StringStart)) {
    parse_string(p);
  } else {
    p.report_expected("a quoted description for the model");
  }
  p.close(mark, NodeKind::ToClause, target);
}

void parse_on_clause(Parser& p) {
  const Mark mark = p.open();
  p.advance();
  if (p.after_newline()) {
    p.report_expected("a value to match");
    p.close(mark, NodeKind::OnClause);
    return;
  }
  parse_expression_without_struct_literals(p);
  if (p.expect(TokenKind::LeftBrace, "`{` and a case such as `\"billing\" -> bills`")) {
    parse_elements(p, TokenKind::RightBrace, Separator::CommaOrLineEnd, "`,` or `}`", [&] {
      const Mark arm = p.open();
      if (!p.accept(TokenKind::Else)) parse_pattern(p);
      const TokenIndex target = parse_target(p);
      p.close_or_error(arm, NodeKind::OnArm, target);
    });
  }
  p.close(mark, NodeKind::OnClause);
}

void parse_called_clause(Parser& p) {
  const Mark mark = p.open();
  p.advance();
  if (p.at(TokenKind::Arrow)) {
    p.report_expected("a tool name");
  } else {
    expect_name_on_line(p, "a tool name");
  }
  const TokenIndex target = parse_target(p);
  p.close(mark, NodeKind::CalledClause, target);
}

void parse_item_clause(Parser& p) {
  const Mark mark = p.open();
  p.advance();
  const TokenIndex name = expect_name_on_line(p, "an item name");
  if (p.expect(TokenKind::Colon, "`:` and the type of the item")) {
    const Setting ranges(p.rules().type_ranges, false);
    parse_type(p);
  } else {
    p.add_empty(NodeKind::Error);
  }
  if (p.expect(TokenKind::In, "`in` and a list")) parse_element_expression(p);
  p.close(mark, NodeKind::ItemClause, name);
}

void parse_block_list(Parser& p) {
  const TokenIndex opening = p.here();
  if (!p.expect(TokenKind::LeftBrace, "`{` and blocks")) return;
  const bool indented = p.after_newline() && p.column() > p.enclosing().item_column;
  while (!p.at(TokenKind::RightBrace) && !p.at_end()) {
    if (at_declaration(p) && (indented || !at_block_item(p))) break;
    if (p.at_word("branch") && p.after_newline() && p.column() <= p.enclosing().item_column) break;
    if (p.at_word("block")) {
      parse_block_item(p);
      continue;
    }
    p.report_unexpected("a block such as `block name: request { … }`");
    skip_to_part(p, Parts::AgentParts);
  }
  p.expect_closing(TokenKind::RightBrace, "`}`", opening);
}

void parse_branch(Parser& p) {
  const Mark mark = p.open();
  const Setting item(p.enclosing().item_column, p.column());
  p.advance();
  const TokenIndex name = expect_name_on_line(p, "a branch name");
  parse_block_list(p);
  p.close(mark, NodeKind::BranchItem, name);
}

void parse_block_part(Parser& p) {
  const Mark mark = p.open();
  if (p.at(TokenKind::Arrow)) {
    const TokenIndex target = parse_target(p);
    p.close(mark, NodeKind::NextClause, target);
  } else if (p.accept(TokenKind::Else)) {
    const TokenIndex target = parse_target(p);
    p.close(mark, NodeKind::ElseClause, target);
  } else if (p.peek(1) == TokenKind::Colon) {
    parse_block_option(p);
  } else if (p.at_word("when")) {
    parse_when_clause(p);
  } else if (p.at_word("on")) {
    parse_on_clause(p);
  } else if (p.at_word("to")) {
    parse_to_clause(p);
  } else if (p.at_word("called")) {
    parse_called_clause(p);
  } else if (p.at_word("item")) {
    parse_item_clause(p);
  } else if (p.at_word("branch")) {
    parse_branch(p);
  } else if (p.at_word("block")) {
    parse_block_item(p);
  } else {
    parse_block_option(p);
  }
}

void parse_block_parts(Parser& p) {
  const bool indented = p.after_newline() && p.column() > p.enclosing().item_column;
  const Setting part(p.enclosing().part_column, p.enclosing().part_column);
  bool ended = false;
  while (!p.at(TokenKind::RightBrace) && !p.at_end()) {
    if (at_declaration(p) && (indented || !at_block_item(p))) break;
    if (p.accept(TokenKind::Comma)) continue;
    if (ended) p.report_unexpected("`}` (`-> …` must be the last part of a block)");
    ended = p.at(TokenKind::Arrow);
    p.enclosing().part_column = p.column();
    if (!at_block_part(p)) {
      const bool is_edge = p.peek(1) == TokenKind::FatArrow || p.peek(1) == TokenKind::Arrow;
      const bool is_case = p.at(TokenKind::StringStart) || p.at(TokenKind::Integer) || is_edge;
      const bool is_wildcard = p.at(TokenKind::Underscore);
      if (auto* report = p.report_unexpected("a block part such as `prompt: \"…\"` or `-> next`")) {
        if (is_wildcard && is_edge) {
          report->hint("the edge for everything else is written `else -> NEXT`").fix = {p.span_here(), "else"};
        } else if (is_case) {
          report->hint("the cases of a value are written `on VALUE { \"billing\" -> bills }`");
        }
      }
      const Mark error = p.open();
      p.advance();
      p.close(error, NodeKind::Error);
      if (!p.after_newline()) skip_to(p, {TokenKind::Comma});
      continue;
    }
    parse_block_part(p);
    if (p.at(TokenKind::RightBrace) || p.at(TokenKind::Comma) || p.at(TokenKind::Arrow)) continue;
    if (p.after_newline() || p.last_token().kind == TokenKind::RightBrace) continue;
    p.report_expected("`,` or a line end");
    skip_to(p, {TokenKind::Comma});
  }
}

void parse_block_statements(Parser& p) {
  const Mark body = p.open();
  {
    const Setting arrows(p.rules().arrow_ends_statement, true);
    const Setting part(p.enclosing().part_column, SIZE_MAX);
    parse_statements(p);
  }
  p.close(body, NodeKind::Block);
  if (p.at(TokenKind::Arrow)) parse_block_parts(p);
}

}  // namespace

bool at_block_item(const Parser& p) {
  if (p.peek(1) != TokenKind::Identifier || p.token(1).after_newline || !p.at_word("block")) return false;
  return !at_expression_tail(p, 1) && p.peek(2) != TokenKind::LeftParenthesis;
}

bool at_outer_block_part(const Parser& p) {
  return p.enclosing().part_column != SIZE_MAX && at_next_block_part(p) && p.column() <= p.enclosing().part_column;
}

void parse_block_item(Parser& p) {
  const Nesting nesting(p);
  const Mark mark = p.open();
  const Setting item(p.enclosing().item_column, p.column());
  const Setting lines(p.rules().newlines, true);
  p.advance();
  const TokenIndex name = expect_name_on_line(p, "a block name");
  const bool has_colon = p.expect(TokenKind::Colon, "`:` and a block kind such as `request`");
  bool holds_statements = false;
  if (p.at(TokenKind::Identifier) && !p.after_newline()) {
    holds_statements = p.at_word("code") || p.at_word("set");
    p.advance();
  } else if (has_colon) {
    p.report_expected("a block kind such as `request`");
  }
  const TokenIndex opening = p.here();
  if (p.expect(TokenKind::LeftBrace, "`{` and the body of the block")) {
    if (holds_statements) {
      parse_block_statements(p);
    } else {
      parse_block_parts(p);
    }
    p.expect_closing(TokenKind::RightBrace, "`}`", opening);
  } else if (at_next_block_part(p) && p.column() > p.enclosing().item_column) {
    parse_block_parts(p);
    p.expect(TokenKind::RightBrace);
  }
  p.close(mark, NodeKind::BlockItem, name);
}

void parse_turn_section(Parser& p) {
  const Mark mark = p.open();
  const Setting item(p.enclosing().item_column, p.column());
  p.advance();
  parse_block_list(p);
  p.close(mark, NodeKind::TurnSection);
}

void parse_naming_section(Parser& p, NodeKind kind, std::string_view wanted) {
  const Mark mark = p.open();
  const TokenIndex word = p.advance();
  if (p.after_newline()) {
    p.report_expected(wanted);
    p.close(mark, kind, word);
    return;
  }
  const TokenIndex name = p.expect_name(wanted);
  p.close(mark, kind, name);
}

}  // namespace tenon::syntax
