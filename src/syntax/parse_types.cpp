// Types and patterns.

#include "syntax/parser.h"

namespace tenon::syntax {

void Parser::parse_type() {
  const Nesting nesting(*this);
  const Mark mark = open();
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
        const Setting lines(newlines_matter_, false);
        advance();
        while (!at(TokenKind::Greater) && !at(TokenKind::End)) {
          const std::size_t before = position_;
          parse_type();
          if (position_ == before || !accept(TokenKind::Comma)) break;
        }
        expect(TokenKind::Greater);
      }
      close(path, NodeKind::NamedType, name);
      break;
    }
    case TokenKind::LeftParenthesis: {
      const Setting lines(newlines_matter_, false);
      advance();
      while (!at(TokenKind::RightParenthesis) && !at(TokenKind::End)) {
        const std::size_t before = position_;
        parse_type();
        if (position_ == before || !accept(TokenKind::Comma)) break;
      }
      expect(TokenKind::RightParenthesis);
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
        report_expected("a pattern in quotes");
      }
    } else {
      parse_expression_without_struct_literals();
    }
    close(start, kind);
  };
  bool refined = false;
  for (;; refined = true) {
    if (at(TokenKind::In)) {
      constraint(NodeKind::RangeConstraint);
    } else if (at_word("len") && !token().after_newline) {
      constraint(NodeKind::LengthConstraint);
    } else if (at_word("matching") && !token().after_newline) {
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
  const Setting lines(newlines_matter_, false);
  advance();
  while (!at(TokenKind::Greater) && !at(TokenKind::End)) {
    const std::size_t before = position_;
    parse_type();
    if (position_ == before || !accept(TokenKind::Comma)) break;
  }
  expect(TokenKind::Greater);
  close(mark, NodeKind::TypeArguments);
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
    case TokenKind::False: {
      const Setting literals(struct_literals_, false);
      parse_prefix();
      if (at(TokenKind::DotDotEqual) || at(TokenKind::DotDot)) {
        const TokenIndex range = advance();
        if (at(TokenKind::Integer) || at(TokenKind::Float) || at(TokenKind::Minus)) parse_prefix();
        close(mark, NodeKind::RangeExpression, range);
      }
      close(mark, NodeKind::LiteralPattern);
      return;
    }
    case TokenKind::LeftParenthesis: {
      const Setting lines(newlines_matter_, false);
      advance();
      while (!at(TokenKind::RightParenthesis) && !at(TokenKind::End)) {
        const std::size_t before = position_;
        parse_pattern();
        if (position_ == before || !accept(TokenKind::Comma)) break;
      }
      expect(TokenKind::RightParenthesis);
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
        const Setting lines(newlines_matter_, false);
        advance();
        while (!at(TokenKind::RightParenthesis) && !at(TokenKind::End)) {
          const std::size_t before = position_;
          parse_pattern();
          if (position_ == before || !accept(TokenKind::Comma)) break;
        }
        expect(TokenKind::RightParenthesis);
        close(mark, NodeKind::PathPattern, name);
        return;
      }
      if (at(TokenKind::LeftBrace) && struct_literals_ && at_struct_fields()) {
        const Setting lines(newlines_matter_, false);
        advance();
        while (at(TokenKind::Identifier)) {
          const Mark field = open();
          const TokenIndex field_name = advance();
          if (accept(TokenKind::Colon)) parse_pattern();
          close(field, NodeKind::FieldPattern, field_name);
          if (!accept(TokenKind::Comma)) break;
        }
        accept(TokenKind::DotDot);
        expect(TokenKind::RightBrace);
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
