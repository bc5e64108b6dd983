#include "syntax/parse_patterns.h"

#include "syntax/parse_expressions.h"
#include "syntax/parse_lists.h"

namespace tenon::syntax {
namespace {

/// `(a, b)`
void parse_pattern_list(Parser& p) {
  const Setting lines(p.rules().newlines, false);
  p.advance();
  parse_elements(p, TokenKind::RightParenthesis, Separator::Comma, "`,` or `)`", [&] { parse_pattern(p); });
}

/// `{ a, b: Some(c), .. }`
void parse_field_patterns(Parser& p) {
  const Setting lines(p.rules().newlines, false);
  p.advance();
  parse_elements(p, TokenKind::RightBrace, Separator::Comma, "`,` or `}`", [&] {
    if (p.accept(TokenKind::DotDot)) return;
    const Mark field = p.open();
    const TokenIndex field_name = p.expect_name("a field name");
    if (p.accept(TokenKind::Colon)) parse_pattern(p);
    p.close_or_error(field, NodeKind::FieldPattern, field_name);
  });
}

}  // namespace

void parse_pattern(Parser& p) {
  const Nesting nesting(p);
  const Mark mark = p.open();
  p.accept(TokenKind::Pipe);
  parse_pattern_operand(p);
  if (!p.at(TokenKind::Pipe)) return;
  while (p.accept(TokenKind::Pipe)) parse_pattern_operand(p);
  p.close(mark, NodeKind::OrPattern);
}

void parse_pattern_operand(Parser& p) {
  const Mark mark = p.open();
  switch (p.peek()) {
    case TokenKind::Underscore:
      p.advance();
      p.close(mark, NodeKind::WildcardPattern);
      return;
    case TokenKind::Integer:
    case TokenKind::Float:
    case TokenKind::Minus:
    case TokenKind::StringStart:
    case TokenKind::True:
    case TokenKind::False:
    case TokenKind::DotDot:
    case TokenKind::DotDotEqual: {
      const Setting literals(p.rules().struct_literals, false);
      if (!p.at(TokenKind::DotDot) && !p.at(TokenKind::DotDotEqual)) parse_prefix(p);
      if (p.at(TokenKind::DotDotEqual) || p.at(TokenKind::DotDot)) {
        const TokenIndex range = p.advance();
        if (p.at(TokenKind::Integer) || p.at(TokenKind::Float) || p.at(TokenKind::Minus)) parse_prefix(p);
        p.close(mark, NodeKind::RangeExpression, range);
      }
      p.close(mark, NodeKind::LiteralPattern);
      return;
    }
    case TokenKind::LeftParenthesis: {
      parse_pattern_list(p);
      p.close(mark, NodeKind::TuplePattern);
      return;
    }
    case TokenKind::Identifier: {
      TokenIndex name = p.advance();
      bool qualified = false;
      while (p.at(TokenKind::ColonColon) && p.peek(1) == TokenKind::Identifier) {
        qualified = true;
        p.advance();
        name = p.advance();
      }
      if (p.at(TokenKind::LeftParenthesis)) {
        parse_pattern_list(p);
        p.close(mark, NodeKind::PathPattern, name);
        return;
      }
      if (p.at(TokenKind::LeftBrace) && (at_struct_fields(p) || p.peek(1) == TokenKind::DotDot)) {
        parse_field_patterns(p);
        p.close(mark, NodeKind::StructPattern, name);
        return;
      }
      p.close(mark, qualified ? NodeKind::PathPattern : NodeKind::NamePattern, name);
      return;
    }
    default:
      p.report_expected("a pattern");
      p.close(mark, NodeKind::Error);
  }
}

}  // namespace tenon::syntax
