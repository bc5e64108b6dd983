// Blocks and statements.

#include "syntax/parse_statements.h"

#include "diagnostics/kinds.h"
#include "syntax/foreign_words.h"
#include "syntax/parse_expressions.h"
#include "syntax/parse_foreign.h"
#include "syntax/parse_items.h"
#include "syntax/parse_lists.h"
#include "syntax/parse_patterns.h"
#include "syntax/parse_templates.h"
#include "syntax/parse_types.h"

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
         kind == NodeKind::ForExpression || kind == NodeKind::CatchExpression || kind == NodeKind::FinallyExpression ||
         kind == NodeKind::ShieldExpression;
}

/// `assert` is a name unless an expression follows. Rust's `assert!(x)` must not be read as `assert !(x)`.
bool at_assert(const Parser& p) {
  if (!p.at_word("assert") || is_assignment(p.peek(1)) || p.peek(1) == TokenKind::Dot || p.token(1).after_newline)
    return false;
  return p.peek(1) != TokenKind::Bang || p.token(1).offset > p.token().offset + p.token().length;
}

void end_statement(Parser& p, NodeKind statement, NodeKind expression) {
  if (p.accept(TokenKind::Semicolon)) return;
  if (p.at(TokenKind::RightBrace) || p.at_end() || p.after_newline()) return;
  if (p.rules().arrow_ends_statement && p.at(TokenKind::Arrow)) return;
  if (is_block_like(expression) || is_block_like(statement)) return;
  if (!p.follows_from_other_error()) {
    if (reject_injection(p)) return end_statement(p, statement, expression);
    if (at_expression_start(p) || p.at(TokenKind::Let) || p.at(TokenKind::While)) {
      auto& report = p.diagnostics().report(diagnostics::StatementsOnOneLine, p.span_here());
      p.hint_operator(report);
      if (!p.at(TokenKind::LeftParenthesis)) hint_foreign_word(report, p.last_text(), p.tree().span(p.last_index()));
      p.mark_reported();
      return;
    }
  }
  auto* const report = p.report_expected("the end of the statement");
  if (report != nullptr && p.at(TokenKind::Question))
    report->hint("remove `?`: failures propagate automatically; use `try e` to get a `Result`");
  skip_to(p, {TokenKind::Semicolon});
  p.accept(TokenKind::Semicolon);
}

void parse_while(Parser& p) {
  const Mark mark = p.open();
  p.advance();
  parse_condition(p);
  parse_block(p);
  end_statement(p, NodeKind::WhileStatement, NodeKind::Error);
  p.close(mark, NodeKind::WhileStatement);
}

void parse_statement(Parser& p) {
  if (p.accept(TokenKind::Semicolon)) return;
  const Mark mark = p.open();
  switch (p.peek()) {
    case TokenKind::Let:
      return parse_let(p);
    case TokenKind::While:
      return parse_while(p);
    default:
      break;
  }
  if (at_loop(p)) return parse_loop(p);
  if (at_foreign_let(p)) return parse_foreign_let(p);
  if (at_foreign_statement(p)) return parse_foreign_statement(p);
  if (at_script_section(p) && !p.token(1).after_newline) {
    if (p.diagnostics().error_count() == p.enclosing().errors_before_test) p.report_unexpected("a statement");
    return parse_script_section(p);
  }
  if (at_item_start(p)) {
    if (!p.follows_from_other_error()) {
      p.diagnostics()
          .report(diagnostics::NestedItem, p.span_here(), p.describe_here())
          .hint("move it out of the function; declarations can appear in any order");
    }
    p.mark_reported();
    parse_item(p);
    return;
  }
  if (at_assert(p)) {
    p.advance();
    parse_expression(p);
    end_statement(p, NodeKind::AssertStatement, NodeKind::Error);
    p.close(mark, NodeKind::AssertStatement);
    return;
  }
  if (!at_expression_start(p)) {
    p.report_unexpected("a statement");
    skip_to(p, {TokenKind::Semicolon});
    p.accept(TokenKind::Semicolon);
    return;
  }
  parse_expression(p);
  const NodeKind expression = p.last_kind_since(mark);
  if (is_assignment(p.peek())) {
    const TokenIndex operation = p.advance();
    parse_expression(p);
    end_statement(p, NodeKind::AssignStatement, NodeKind::Error);
    p.close(mark, NodeKind::AssignStatement, operation);
    return;
  }
  if (p.at(TokenKind::Bang) && !p.at_line_end()) {
    p.advance();
    end_statement(p, NodeKind::InjectStatement, NodeKind::Error);
    p.close(mark, NodeKind::InjectStatement);
    return;
  }
  if (reject_misspelt_keyword(p, mark)) return;
  end_statement(p, NodeKind::ExpressionStatement, expression);
  p.close(mark, NodeKind::ExpressionStatement);
}

}  // namespace

void parse_block(Parser& p) {
  const Nesting nesting(p);
  const Mark mark = p.open();
  const TokenIndex opening = p.here();
  if (p.expect(TokenKind::LeftBrace)) {
    parse_block_rest(p, mark, opening);
  } else {
    p.close(mark, NodeKind::Block);
  }
}

void parse_block_rest(Parser& p, Mark mark, TokenIndex opening) {
  const Setting lines(p.rules().newlines, true);
  const Setting literals(p.rules().struct_literals, true);
  const Setting units(p.rules().units, false);
  const Setting arrows(p.enclosing().arrow_reported, false);
  // After an error in the head of a block, its body is read normally, unless the brace itself is the error.
  if (p.is_recovering() && p.after_newline() && p.reported_position() + 1 != p.position()) p.end_recovery();
  parse_statements(p);
  p.expect_closing(TokenKind::RightBrace, "`}`", opening);
  p.close(mark, NodeKind::Block);
}

void parse_statements(Parser& p) {
  while (!p.at(TokenKind::RightBrace) && !p.at_end() && !at_declaration(p)) {
    if (p.rules().arrow_ends_statement && p.at(TokenKind::Arrow)) return;
    const std::size_t before = p.position();
    {
      const Setting start(p.enclosing().statement_start, p.token().offset);
      parse_statement(p);
    }
    if (p.position() != before) continue;
    p.report_unexpected("a statement or `}`");
    const Mark error = p.open();
    p.advance();
    p.close(error, NodeKind::Error);
  }
}

void parse_let(Parser& p) {
  const Mark mark = p.open();
  p.advance();
  reject_mut(p);
  parse_pattern(p);
  if (p.accept(TokenKind::Colon)) parse_type(p);
  if (p.expect(TokenKind::Equal, "`=` and a value")) parse_expression(p);
  end_statement(p, NodeKind::LetStatement, NodeKind::Error);
  p.close(mark, NodeKind::LetStatement);
}

void parse_condition(Parser& p) {
  const Setting literals(p.rules().struct_literals, false);
  const Mark mark = p.open();
  if (!p.at(TokenKind::Let)) {
    parse_expression(p);
    reject_assignment(p, mark);
    return;
  }
  p.advance();
  parse_pattern(p);
  if (p.expect(TokenKind::Equal)) parse_expression(p);
  p.close(mark, NodeKind::LetCondition);
}

void parse_for(Parser& p) {
  const Mark mark = p.open();
  const Nesting nesting(p);
  p.advance();
  parse_pattern(p);
  p.expect(TokenKind::In);
  parse_expression_without_struct_literals(p);
  if (heads_section(p, mark, NodeKind::TemplateFor)) return;
  if (p.at_word("parallel") && p.peek(1) == TokenKind::LeftParenthesis) {
    const Mark clause = p.open();
    p.advance();
    const Setting lines(p.rules().newlines, false);
    p.advance();
    parse_expression(p);
    p.expect(TokenKind::RightParenthesis);
    p.close(clause, NodeKind::ParallelClause);
  }
  parse_block(p);
  p.close(mark, NodeKind::ForExpression);
}

}  // namespace tenon::syntax
