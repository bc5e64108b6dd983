// Types and patterns.

#include "syntax/parser.h"

namespace tenon::syntax {
namespace {

/// Whether a type may begin with the token, so that `secret` before it is a word and not the name of a type.
bool begins_type(TokenKind kind) {
  return kind == TokenKind::Identifier || kind == TokenKind::LeftParenthesis || kind == TokenKind::StringStart ||
         kind == TokenKind::Integer || kind == TokenKind::Minus;
}

}  // namespace

void Parser::parse_type() {
  const Nesting nesting(*this);
  const Mark mark = open();
  if (at_word("secret") && begins_type(peek(1))) {
    advance();
    parse_type();
    close(mark, NodeKind::SecretType);
    return;
  }
  parse_type_operand();
  const bool literal = pending_.size() > mark.pending && tree_.kind(pending_.back()) == NodeKind::LiteralType;
  if (literal && at(TokenKind::Pipe)) {
    while (accept(TokenKind::Pipe)) parse_type_operand();
    close(mark, NodeKind::UnionType);
  }
  parse_constraints(mark);
}

void Parser::parse_type_operand() {
  const Mark mark = open();
  switch (peek()) {
    case TokenKind::Identifier: {
      const Mark path = open();
      TokenIndex name = advance();
      while (at(TokenKind::ColonColon) && peek(1) == TokenKind::Identifier) {
        advance();
        name = advance();
      }
      if (at(TokenKind::Less)) {
        advance();
        parse_types_until(TokenKind::Greater);
      }
      close(path, NodeKind::NamedType, name);
      break;
    }
    case TokenKind::LeftParenthesis: {
      advance();
      parse_types_until(TokenKind::RightParenthesis);
      close(mark, NodeKind::TupleType);
      break;
    }
    case TokenKind::StringStart:
      parse_string();
      close(mark, NodeKind::LiteralType);
      return;
    case TokenKind::Integer: {
      const Mark number = open();
      advance();
      close(number, NodeKind::IntegerExpression);
      close(mark, NodeKind::LiteralType);
      return;
    }
    case TokenKind::Minus: {
      const Mark number = open();
      const TokenIndex sign = advance();
      const Mark digits = open();
      expect(TokenKind::Integer);
      close(digits, NodeKind::IntegerExpression);
      close(number, NodeKind::UnaryExpression, sign);
      close(mark, NodeKind::LiteralType);
      return;
    }
    default:
      report_expected("a type");
      close(mark, NodeKind::Error);
      return;
  }
  while (!at_line_end() && at(TokenKind::Question)) {
    advance();
    close(mark, NodeKind::OptionalType);
  }
}

void Parser::parse_constraints(Mark mark) {
  const auto constraint = [&](NodeKind kind) {
    const Mark start = open();
    advance();
    if (kind == NodeKind::PatternConstraint) {
      if (at(TokenKind::StringStart)) {
        parse_string();
      } else {
        report_expected("a quoted pattern");
      }
    } else {
      parse_range_bounds();
    }
    close(start, kind);
  };
  bool refined = false;
  for (;; refined = true) {
    if (at(TokenKind::In) && rules_.type_ranges) {
      constraint(NodeKind::RangeConstraint);
    } else if (!after_newline() && at_word("len")) {
      constraint(NodeKind::LengthConstraint);
    } else if (!after_newline() && at_word("matching")) {
      constraint(NodeKind::PatternConstraint);
    } else {
      break;
    }
  }
  if (refined) close(mark, NodeKind::RefinedType);
}

/// `<A, B>` of a call: the caller has looked ahead.
void Parser::parse_type_arguments() {
  const Mark mark = open();
  advance();
  parse_types_until(TokenKind::Greater);
  close(mark, NodeKind::TypeArguments);
}

void Parser::parse_types_until(TokenKind close) {
  const Setting lines(rules_.newlines, false);
  const Setting ranges(rules_.type_ranges, true);
  parse_elements(close, Separator::Comma, close == TokenKind::Greater ? "`,` or `>`" : "`,` or `)`",
                 [&] { parse_type(); });
}

void Parser::parse_pattern() {
  const Nesting nesting(*this);
  const Mark mark = open();
  accept(TokenKind::Pipe);
  parse_pattern_operand();
  if (!at(TokenKind::Pipe)) return;
  while (accept(TokenKind::Pipe)) parse_pattern_operand();
  close(mark, NodeKind::OrPattern);
}

/// `(a, b)`
void Parser::parse_pattern_list() {
  const Setting lines(rules_.newlines, false);
  advance();
  parse_elements(TokenKind::RightParenthesis, Separator::Comma, "`,` or `)`", [&] { parse_pattern(); });
}

/// `{ a, b: Some(c), .. }`
void Parser::parse_field_patterns() {
  const Setting lines(rules_.newlines, false);
  advance();
  parse_elements(TokenKind::RightBrace, Separator::Comma, "`,` or `}`", [&] {
    if (accept(TokenKind::DotDot)) return;
    const Mark field = open();
    const TokenIndex field_name = parse_name("a field name");
    if (accept(TokenKind::Colon)) parse_pattern();
    close(field, position_ == field.token ? NodeKind::Error : NodeKind::FieldPattern, field_name);
  });
}

void Parser::parse_pattern_operand() {
  const Mark mark = open();
  switch (peek()) {
    case TokenKind::Underscore:
      advance();
      close(mark, NodeKind::WildcardPattern);
      return;
    case TokenKind::Integer:
    case TokenKind::Float:
    case TokenKind::Minus:
    case TokenKind::StringStart:
    case TokenKind::True:
    case TokenKind::False:
    case TokenKind::DotDot:
    case TokenKind::DotDotEqual: {
      const Setting literals(rules_.struct_literals, false);
      if (!at(TokenKind::DotDot) && !at(TokenKind::DotDotEqual)) parse_prefix();
      if (at(TokenKind::DotDotEqual) || at(TokenKind::DotDot)) {
        const TokenIndex range = advance();
        if (at(TokenKind::Integer) || at(TokenKind::Float) || at(TokenKind::Minus)) parse_prefix();
        close(mark, NodeKind::RangeExpression, range);
      }
      close(mark, NodeKind::LiteralPattern);
      return;
    }
    case TokenKind::LeftParenthesis: {
      parse_pattern_list();
      close(mark, NodeKind::TuplePattern);
      return;
    }
    case TokenKind::Identifier: {
      TokenIndex name = advance();
      bool qualified = false;
      while (at(TokenKind::ColonColon) && peek(1) == TokenKind::Identifier) {
        qualified = true;
        advance();
        name = advance();
      }
      if (at(TokenKind::LeftParenthesis)) {
        parse_pattern_list();
        close(mark, NodeKind::PathPattern, name);
        return;
      }
      if (at(TokenKind::LeftBrace) && (at_struct_fields() || peek(1) == TokenKind::DotDot)) {
        parse_field_patterns();
        close(mark, NodeKind::StructPattern, name);
        return;
      }
      close(mark, qualified ? NodeKind::PathPattern : NodeKind::NamePattern, name);
      return;
    }
    default:
      report_expected("a pattern");
      close(mark, NodeKind::Error);
  }
}

}  // namespace tenon::syntax
