// Blocks and statements.

#include <utility>

#include "diagnostics/kinds.h"
#include "syntax/parser.h"

namespace tenon::syntax {
namespace {

bool is_assignment(TokenKind kind) {
  return kind == TokenKind::Equal || kind == TokenKind::PlusEqual || kind == TokenKind::MinusEqual ||
         kind == TokenKind::StarEqual || kind == TokenKind::SlashEqual || kind == TokenKind::PercentEqual;
}

/// Ends with its own brace, so that the next statement may follow on the same line.
bool is_block_like(NodeKind kind) {
  return kind == NodeKind::IfExpression || kind == NodeKind::MatchExpression || kind == NodeKind::SelectExpression ||
         kind == NodeKind::Block || kind == NodeKind::ParallelExpression || kind == NodeKind::WhileStatement ||
         kind == NodeKind::ForExpression || kind == NodeKind::CatchExpression || kind == NodeKind::FinallyExpression;
}

}  // namespace

void Parser::parse_block() {
  const Nesting nesting(*this);
  const Mark mark = open();
  const TokenIndex opening = index(position_);
  if (expect(TokenKind::LeftBrace)) {
    parse_block_rest(mark, opening);
  } else {
    close(mark, NodeKind::Block);
  }
}

void Parser::parse_block_rest(Mark mark, TokenIndex opening) {
  const Setting lines(rules_.newlines, true);
  const Setting literals(rules_.struct_literals, true);
  const Setting units(rules_.units, false);
  const Setting arrows(recovery_.arrow_reported, false);
  // What follows an error in the head of a block is read; where the brace itself is the error, it is skipped.
  if (recovery_.is_active && after_newline() && recovery_.reported_position + 1 != position_) end_recovery();
  parse_statements();
  expect_closing(TokenKind::RightBrace, "`}`", opening);
  close(mark, NodeKind::Block);
}

/// Up to the closing brace, or to the `->` behind an agent's block.
void Parser::parse_statements() {
  while (!at(TokenKind::RightBrace) && !at_end() && !at_declaration()) {
    if (rules_.arrow_ends_statement && at(TokenKind::Arrow)) return;
    const std::size_t before = position_;
    const std::uint32_t outer_start = std::exchange(recovery_.statement_start, token().offset);
    parse_statement();
    recovery_.statement_start = outer_start;
    if (position_ != before) continue;
    report_unexpected("a statement or `}`");
    const Mark error = open();
    advance();
    close(error, NodeKind::Error);
  }
}

void Parser::parse_statement() {
  if (accept(TokenKind::Semicolon)) return;
  const Mark mark = open();
  switch (peek()) {
    case TokenKind::Let:
      return parse_let();
    case TokenKind::While:
      return parse_while();
    default:
      break;
  }
  if (at_loop()) return parse_loop();
  if (at_foreign_let()) return parse_foreign_let();
  if (at_foreign_statement()) return parse_foreign_statement();
  if ((at_word("model") || at(TokenKind::Extern)) && peek(1) == TokenKind::LeftBrace && !token(1).after_newline) {
    if (diagnostics_.error_count() == recovery_.errors_before_test) report_unexpected("a statement");
    return parse_script_section();
  }
  if (at_item_start()) {
    if (!follows_from_other_error()) {
      diagnostics_.report(diagnostics::NestedItem, tree_.span(index(position_)), describe_here())
          .hint("move it out of the function; declarations can appear in any order");
    }
    mark_reported();
    parse_item();
    return;
  }
  if (at_assert()) {
    advance();
    parse_expression();
    end_statement(NodeKind::AssertStatement, NodeKind::Error);
    close(mark, NodeKind::AssertStatement);
    return;
  }
  if (!at_expression_start()) {
    report_unexpected("a statement");
    skip_to({TokenKind::Semicolon});
    accept(TokenKind::Semicolon);
    return;
  }
  parse_expression();
  const NodeKind expression = pending_.size() > mark.pending ? tree_.kind(pending_.back()) : NodeKind::Error;
  if (is_assignment(peek())) {
    const TokenIndex operation = advance();
    parse_expression();
    end_statement(NodeKind::AssignStatement, NodeKind::Error);
    close(mark, NodeKind::AssignStatement, operation);
    return;
  }
  if (at(TokenKind::Bang) && !at_line_end()) {
    advance();
    end_statement(NodeKind::InjectStatement, NodeKind::Error);
    close(mark, NodeKind::InjectStatement);
    return;
  }
  if (reject_misspelt_keyword(mark)) return;
  end_statement(NodeKind::ExpressionStatement, expression);
  close(mark, NodeKind::ExpressionStatement);
}

/// `assert` is a name where something else follows than an expression. `assert!(x)`, as Rust has it, must not be read
/// as `assert !(x)`.
bool Parser::at_assert() const {
  if (!at_word("assert") || is_assignment(peek(1)) || peek(1) == TokenKind::Dot || token(1).after_newline) return false;
  return peek(1) != TokenKind::Bang || token(1).offset > token().offset + token().length;
}

void Parser::end_statement(NodeKind statement, NodeKind expression) {
  if (accept(TokenKind::Semicolon)) return;
  if (at(TokenKind::RightBrace) || at_end() || after_newline()) return;
  if (rules_.arrow_ends_statement && at(TokenKind::Arrow)) return;
  if (is_block_like(expression) || is_block_like(statement)) return;
  if (!follows_from_other_error()) {
    if (reject_injection()) return end_statement(statement, expression);
    if (at_expression_start() || at(TokenKind::Let) || at(TokenKind::While)) {
      hint_operator(diagnostics_.report(diagnostics::StatementsOnOneLine, tree_.span(index(position_))));
      mark_reported();
      return;
    }
  }
  auto* const told = report_expected("the end of the statement");
  if (told != nullptr && at(TokenKind::Question))
    told->hint("remove `?`: failures propagate automatically; use `try e` to get a `Result`");
  skip_to({TokenKind::Semicolon});
  accept(TokenKind::Semicolon);
}

void Parser::parse_let() {
  const Mark mark = open();
  advance();
  reject_mut();
  parse_pattern();
  if (accept(TokenKind::Colon)) parse_type();
  if (expect(TokenKind::Equal, "`=` and a value")) parse_expression();
  end_statement(NodeKind::LetStatement, NodeKind::Error);
  close(mark, NodeKind::LetStatement);
}

void Parser::parse_condition() {
  const Setting literals(rules_.struct_literals, false);
  const Mark mark = open();
  if (!at(TokenKind::Let)) {
    parse_expression();
    reject_assignment(mark);
    return;
  }
  advance();
  parse_pattern();
  if (expect(TokenKind::Equal)) parse_expression();
  close(mark, NodeKind::LetCondition);
}

void Parser::parse_while() {
  const Mark mark = open();
  advance();
  parse_condition();
  parse_block();
  end_statement(NodeKind::WhileStatement, NodeKind::Error);
  close(mark, NodeKind::WhileStatement);
}

void Parser::parse_for() {
  const Mark mark = open();
  const Nesting nesting(*this);
  advance();
  parse_pattern();
  expect(TokenKind::In);
  parse_expression_without_struct_literals();
  if (heads_section(mark, NodeKind::TemplateFor)) return;
  if (at_word("parallel") && peek(1) == TokenKind::LeftParenthesis) {
    const Mark clause = open();
    advance();
    const Setting lines(rules_.newlines, false);
    advance();
    parse_expression();
    expect(TokenKind::RightParenthesis);
    close(clause, NodeKind::ParallelClause);
  }
  parse_block();
  close(mark, NodeKind::ForExpression);
}

}  // namespace tenon::syntax
