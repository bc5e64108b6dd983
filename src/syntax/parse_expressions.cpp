// Expressions, by precedence: `catch`, ranges, `??`, `||`, `&&`, comparisons, sums, products, `as`, prefixes, postfixes.

#include "diagnostics/kinds.h"
#include "syntax/parser.h"

namespace tenon::syntax {
namespace {

constexpr int range_precedence = 1;
constexpr int default_precedence = 2;
constexpr int comparison_precedence = 5;
constexpr int cast_precedence = 8;
/// How far a call's `<…>` is looked through before it is taken for a comparison.
constexpr std::size_t type_arguments_tokens_max = 256;

}  // namespace

bool Parser::at_expression_start() const {
  switch (peek()) {
    case TokenKind::Identifier:
    case TokenKind::Integer:
    case TokenKind::Float:
    case TokenKind::StringStart:
    case TokenKind::True:
    case TokenKind::False:
    case TokenKind::Underscore:
    case TokenKind::LeftParenthesis:
    case TokenKind::LeftBracket:
    case TokenKind::LeftBrace:
    case TokenKind::Minus:
    case TokenKind::Bang:
    case TokenKind::If:
    case TokenKind::Match:
    case TokenKind::Select:
    case TokenKind::For:
    case TokenKind::Try:
    case TokenKind::Return:
    case TokenKind::Break:
    case TokenKind::Continue:
    case TokenKind::Pipe:
    case TokenKind::PipePipe: return true;
    default: return false;
  }
}

int Parser::binary_precedence() const {
  switch (peek()) {
    case TokenKind::DotDot:
    case TokenKind::DotDotEqual: return range_precedence;
    case TokenKind::QuestionQuestion: return default_precedence;
    case TokenKind::PipePipe: return 3;
    case TokenKind::AmpersandAmpersand: return 4;
    case TokenKind::EqualEqual:
    case TokenKind::BangEqual:
    case TokenKind::Less:
    case TokenKind::LessEqual:
    case TokenKind::Greater:
    case TokenKind::GreaterEqual: return comparison_precedence;
    case TokenKind::Plus: return 6;
    case TokenKind::Minus: return at_line_end() ? 0 : 6;
    case TokenKind::Star:
    case TokenKind::Slash:
    case TokenKind::Percent: return 7;
    case TokenKind::As: return cast_precedence;
    default: return 0;
  }
}

void Parser::parse_expression() {
  const Nesting nesting(*this);
  const Mark mark = open();
  parse_binary(range_precedence);
  while (at_word("catch") && (peek(1) == TokenKind::Identifier || peek(1) == TokenKind::Underscore) &&
         peek(2) == TokenKind::LeftBrace) {
    advance();
    const TokenIndex name = advance();
    parse_block();
    close(mark, NodeKind::CatchExpression, name);
  }
}

void Parser::parse_expression_without_struct_literals() {
  const Setting literals(struct_literals_, false);
  parse_expression();
}

void Parser::parse_binary(int precedence_min) {
  const Mark mark = open();
  if (at(TokenKind::DotDot) || at(TokenKind::DotDotEqual)) {
    const TokenIndex operation = advance();
    if (at_expression_start() && !at_line_end() && !at(TokenKind::LeftBrace)) parse_binary(range_precedence + 1);
    close(mark, NodeKind::RangeExpression, operation);
    return;
  }
  parse_prefix();
  for (;;) {
    const int precedence = binary_precedence();
    if (precedence == 0 || precedence < precedence_min) return;
    const TokenIndex operation = advance();
    if (precedence == cast_precedence) {
      parse_type_operand();
      close(mark, NodeKind::CastExpression, operation);
    } else if (precedence == range_precedence) {
      const bool has_end = at_expression_start() && !at_line_end() && (struct_literals_ || !at(TokenKind::LeftBrace));
      if (has_end) parse_binary(range_precedence + 1);
      close(mark, NodeKind::RangeExpression, operation);
      return;
    } else {
      // `??` groups to the right, everything else to the left.
      const Nesting nesting(*this);
      parse_binary(precedence == default_precedence ? precedence : precedence + 1);
      close(mark, NodeKind::BinaryExpression, operation);
      if (precedence == comparison_precedence && binary_precedence() == comparison_precedence) {
        diagnostics_.report(diagnostics::ChainedComparison, tree_.span(index(position_)))
            .hint("join two comparisons with `&&`, or put one of them into parentheses");
      }
    }
  }
}

void Parser::parse_prefix() {
  const Mark mark = open();
  switch (peek()) {
    case TokenKind::Minus:
    case TokenKind::Bang: {
      const Nesting nesting(*this);
      const TokenIndex operation = advance();
      parse_prefix();
      close(mark, NodeKind::UnaryExpression, operation);
      return;
    }
    case TokenKind::Try: {
      const Nesting nesting(*this);
      advance();
      parse_binary(range_precedence);
      close(mark, NodeKind::TryExpression);
      return;
    }
    case TokenKind::Return:
      advance();
      if (at_expression_start() && !at_line_end()) parse_expression();
      close(mark, NodeKind::ReturnExpression);
      return;
    default: parse_postfix();
  }
}

void Parser::parse_postfix() {
  const Mark mark = open();
  parse_operand();
  if (pending_.size() == mark.pending) return;
  for (;;) {
    if (at(TokenKind::Dot) || at(TokenKind::QuestionDot)) {
      const TokenIndex dot = advance();
      const bool optional = tree_.tokens[dot].kind == TokenKind::QuestionDot;
      if (at(TokenKind::Integer) && !optional) {  // a tuple's item: `pair.0`
        const TokenIndex item = advance();
        close(mark, NodeKind::FieldExpression, item);
        continue;
      }
      const TokenIndex name = parse_name("a field or method");
      const bool typed = at_type_arguments();
      if (typed) parse_type_arguments();
      if (at(TokenKind::LeftParenthesis) && !at_line_end()) {
        parse_arguments();
        close(mark, NodeKind::MethodCallExpression, name);
      } else {
        close(mark, NodeKind::FieldExpression, name);
      }
    } else if (at(TokenKind::LeftParenthesis) && !at_line_end()) {
      parse_arguments();
      close(mark, NodeKind::CallExpression);
    } else if (at(TokenKind::LeftBracket) && !at_line_end()) {
      const Setting lines(newlines_matter_, false);
      const Setting literals(struct_literals_, true);
      advance();
      parse_expression();
      expect(TokenKind::RightBracket);
      close(mark, NodeKind::IndexExpression);
    } else if (at_word("budget") && peek(1) == TokenKind::LeftParenthesis && !at_line_end()) {
      parse_budget_clause();
      close(mark, NodeKind::BudgetExpression);
    } else {
      return;
    }
  }
}

void Parser::parse_operand() {
  const Mark mark = open();
  const auto single = [&](NodeKind kind) {
    advance();
    close(mark, kind);
  };
  switch (peek()) {
    case TokenKind::Integer: return single(NodeKind::IntegerExpression);
    case TokenKind::Float: return single(NodeKind::FloatExpression);
    case TokenKind::True:
    case TokenKind::False: return single(NodeKind::BooleanExpression);
    case TokenKind::Underscore: return single(NodeKind::HoleExpression);
    case TokenKind::Break: return single(NodeKind::BreakExpression);
    case TokenKind::Continue: return single(NodeKind::ContinueExpression);
    case TokenKind::StringStart: return parse_string();
    case TokenKind::LeftParenthesis: return parse_parentheses();
    case TokenKind::LeftBracket: return parse_list();
    case TokenKind::LeftBrace: return parse_block();
    case TokenKind::If: return parse_if();
    case TokenKind::Match: return parse_match();
    case TokenKind::Select: return parse_select();
    case TokenKind::For: return parse_for();
    case TokenKind::Pipe:
    case TokenKind::PipePipe: return parse_closure();
    case TokenKind::Identifier:
      if (at_word("parallel") && peek(1) == TokenKind::LeftBrace && struct_literals_) return parse_parallel();
      return parse_name_expression();
    default:
      report_expected("an expression");
      close(mark, NodeKind::Error);
  }
}

void Parser::parse_name_expression() {
  const Mark mark = open();
  TokenIndex name = advance();
  while (at(TokenKind::ColonColon)) {
    advance();
    name = parse_name("a name");
  }
  if (at_type_arguments()) parse_type_arguments();
  close(mark, NodeKind::NameExpression, name);
  if (at(TokenKind::LeftBrace) && struct_literals_ && !at_line_end() && at_struct_fields()) {
    parse_struct_fields();
    close(mark, NodeKind::StructExpression, name);
  }
}

bool Parser::at_struct_fields() const {
  if (peek(1) == TokenKind::RightBrace) return true;
  return peek(1) == TokenKind::Identifier &&
         (peek(2) == TokenKind::Colon || peek(2) == TokenKind::Comma || peek(2) == TokenKind::RightBrace);
}

void Parser::parse_struct_fields() {
  const Setting lines(newlines_matter_, false);
  advance();
  while (at(TokenKind::Identifier)) {
    const Mark field = open();
    const TokenIndex name = advance();
    if (accept(TokenKind::Colon)) parse_expression();
    close(field, NodeKind::FieldInitializer, name);
    if (!accept(TokenKind::Comma)) break;
  }
  if (!expect(TokenKind::RightBrace, "`,` or `}`")) {
    skip_to({TokenKind::RightBrace});
    accept(TokenKind::RightBrace);
  }
}

/// Whether a `<` begins type arguments: what follows reads like types up to a `>` with a `(` behind it.
bool Parser::at_type_arguments() const {
  if (!at(TokenKind::Less) || at_line_end()) return false;
  std::size_t depth = 0;
  for (std::size_t ahead = 0; ahead < type_arguments_tokens_max; ++ahead) {
    switch (peek(ahead)) {
      case TokenKind::Less: ++depth; break;
      case TokenKind::Greater:
        if (--depth == 0) {
          return peek(ahead + 1) == TokenKind::LeftParenthesis && !(newlines_matter_ && token(ahead + 1).after_newline);
        }
        break;
      case TokenKind::Identifier:
      case TokenKind::Comma:
      case TokenKind::Question:
      case TokenKind::ColonColon:
      case TokenKind::LeftParenthesis:
      case TokenKind::RightParenthesis:
      case TokenKind::Pipe:
      case TokenKind::StringStart:
      case TokenKind::StringText:
      case TokenKind::StringEnd: break;
      default: return false;
    }
  }
  return false;
}

void Parser::parse_string() {
  const Mark mark = open();
  const Setting lines(newlines_matter_, true);
  advance();
  for (;;) {
    if (at(TokenKind::StringText)) {
      advance();
    } else if (at(TokenKind::TemplateStart)) {
      const Mark hole = open();
      advance();
      {
        const Setting inside(newlines_matter_, false);
        const Setting literals(struct_literals_, true);
        if (at(TokenKind::TemplateEnd)) {
          report_expected("an expression");
        } else {
          parse_expression();
        }
        while (!at(TokenKind::TemplateEnd) && !at(TokenKind::StringEnd) && !at(TokenKind::StringText) && !at(TokenKind::End)) {
          report_expected("`}}`");
          advance();
        }
      }
      accept(TokenKind::TemplateEnd);
      close(hole, NodeKind::TemplateHole);
    } else {
      break;
    }
  }
  accept(TokenKind::StringEnd);  // its absence has been told by the lexer
  close(mark, NodeKind::StringExpression);
}

void Parser::parse_parentheses() {
  const Mark mark = open();
  const Setting lines(newlines_matter_, false);
  const Setting literals(struct_literals_, true);
  advance();
  bool tuple = at(TokenKind::RightParenthesis);
  while (!at(TokenKind::RightParenthesis) && !at(TokenKind::End)) {
    const std::size_t before = position_;
    parse_expression();
    if (position_ == before) break;
    if (!accept(TokenKind::Comma)) break;
    tuple = true;
  }
  if (!expect(TokenKind::RightParenthesis, "`,` or `)`")) {
    skip_to({TokenKind::RightParenthesis, TokenKind::Semicolon});
    accept(TokenKind::RightParenthesis);
  }
  close(mark, tuple ? NodeKind::TupleExpression : NodeKind::ParenthesizedExpression);
}

void Parser::parse_list() {
  const Mark mark = open();
  const Setting lines(newlines_matter_, false);
  const Setting literals(struct_literals_, true);
  advance();
  while (!at(TokenKind::RightBracket) && !at(TokenKind::End)) {
    const std::size_t before = position_;
    parse_expression();
    if (position_ == before || !accept(TokenKind::Comma)) break;
  }
  if (!expect(TokenKind::RightBracket, "`,` or `]`")) {
    skip_to({TokenKind::RightBracket, TokenKind::Semicolon});
    accept(TokenKind::RightBracket);
  }
  close(mark, NodeKind::ListExpression);
}

void Parser::parse_arguments() {
  const Mark mark = open();
  const Setting lines(newlines_matter_, false);
  const Setting literals(struct_literals_, true);
  advance();
  while (!at(TokenKind::RightParenthesis) && !at(TokenKind::End)) {
    const std::size_t before = position_;
    parse_expression();
    if (at(TokenKind::Bang)) {
      diagnostics_.report(diagnostics::InjectionInside, tree_.span(index(position_)))
          .hint("`!` stands at the end of a statement; bind the value with `let` first, then inject it");
      reported_position_ = position_;
      advance();
    }
    if (position_ == before || !accept(TokenKind::Comma)) break;
  }
  if (!expect(TokenKind::RightParenthesis, "`,` or `)`")) {
    skip_to({TokenKind::RightParenthesis, TokenKind::Semicolon});
    accept(TokenKind::RightParenthesis);
  }
  close(mark, NodeKind::Arguments);
}

void Parser::parse_if() {
  const Mark mark = open();
  const Nesting nesting(*this);
  advance();
  parse_condition();
  parse_block();
  if (accept(TokenKind::Else)) {
    if (at(TokenKind::If)) {
      parse_if();
    } else {
      parse_block();
    }
  }
  close(mark, NodeKind::IfExpression);
}

/// What stands behind `=>`: an expression, or an expression that is injected.
void Parser::parse_body() {
  const Mark mark = open();
  parse_expression();
  if (at(TokenKind::Bang) && !at_line_end()) {
    advance();
    close(mark, NodeKind::InjectBody);
  }
}

void Parser::parse_match() {
  const Mark mark = open();
  advance();
  parse_expression_without_struct_literals();
  const Setting lines(newlines_matter_, true);
  const Setting literals(struct_literals_, true);
  if (!expect(TokenKind::LeftBrace)) {
    close(mark, NodeKind::MatchExpression);
    return;
  }
  while (!at(TokenKind::RightBrace) && !at(TokenKind::End)) {
    const Mark arm = open();
    parse_pattern();
    if (at(TokenKind::If)) {
      const Mark guard = open();
      advance();
      parse_expression();
      close(guard, NodeKind::Guard);
    }
    if (expect(TokenKind::FatArrow)) parse_body();
    if (position_ == arm.token) {
      skip_to({TokenKind::Comma, TokenKind::RightBrace});
      if (position_ == arm.token) advance();
    }
    close(arm, NodeKind::MatchArm);
    if (accept(TokenKind::Comma) || token().after_newline || at(TokenKind::RightBrace)) continue;
    report_expected("`,` or `}`");
    skip_to({TokenKind::Comma, TokenKind::RightBrace});
    accept(TokenKind::Comma);
  }
  expect(TokenKind::RightBrace);
  close(mark, NodeKind::MatchExpression);
}

void Parser::parse_select() {
  const Mark mark = open();
  advance();
  const Setting lines(newlines_matter_, true);
  const Setting literals(struct_literals_, true);
  if (!expect(TokenKind::LeftBrace)) {
    close(mark, NodeKind::SelectExpression);
    return;
  }
  while (!at(TokenKind::RightBrace) && !at(TokenKind::End)) {
    const Mark clause = open();
    TokenIndex name = index(position_);
    if (!accept(TokenKind::Else)) {
      parse_postfix();
      if (accept(TokenKind::As)) name = parse_name("the result's name");
    }
    if (expect(TokenKind::FatArrow)) parse_body();
    if (position_ == clause.token) {
      skip_to({TokenKind::Comma, TokenKind::RightBrace});
      if (position_ == clause.token) advance();
    }
    close(clause, NodeKind::SelectClause, name);
    if (accept(TokenKind::Comma) || token().after_newline || at(TokenKind::RightBrace)) continue;
    report_expected("`,` or `}`");
    skip_to({TokenKind::Comma, TokenKind::RightBrace});
    accept(TokenKind::Comma);
  }
  expect(TokenKind::RightBrace);
  close(mark, NodeKind::SelectExpression);
}

void Parser::parse_closure() {
  const Mark mark = open();
  if (!accept(TokenKind::PipePipe)) {
    advance();
    while (!at(TokenKind::Pipe) && !at(TokenKind::End)) {
      const std::size_t before = position_;
      parse_pattern_operand();
      if (position_ == before || !accept(TokenKind::Comma)) break;
    }
    expect(TokenKind::Pipe);
  }
  parse_expression();
  close(mark, NodeKind::ClosureExpression);
}

void Parser::parse_parallel() {
  const Mark mark = open();
  const Setting lines(newlines_matter_, true);
  advance();
  advance();
  while (!at(TokenKind::RightBrace) && !at(TokenKind::End)) {
    const Mark branch = open();
    const bool named = at(TokenKind::Identifier) && peek(1) == TokenKind::Equal;
    const TokenIndex name = index(position_);
    if (named) {
      advance();
      advance();
    }
    parse_expression();
    if (position_ == branch.token) {
      skip_to({TokenKind::Comma, TokenKind::RightBrace});
      if (position_ == branch.token) advance();
    }
    close(branch, NodeKind::ParallelBranch, name);
    if (accept(TokenKind::Comma) || token().after_newline || at(TokenKind::RightBrace)) continue;
    report_expected("`,` or `}`");
    skip_to({TokenKind::Comma, TokenKind::RightBrace});
    accept(TokenKind::Comma);
  }
  expect(TokenKind::RightBrace);
  close(mark, NodeKind::ParallelExpression);
}

}  // namespace tenon::syntax
