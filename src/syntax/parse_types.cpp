#include "syntax/parse_types.h"

#include "syntax/parse_expressions.h"
#include "syntax/parse_foreign.h"
#include "syntax/parse_lists.h"
#include "syntax/parse_templates.h"

namespace tenon::syntax {
namespace {

/// Whether a type can begin with the token, so that `secret` before it is not the name of a type.
bool begins_type(TokenKind kind) {
  return kind == TokenKind::Identifier || kind == TokenKind::LeftParenthesis || kind == TokenKind::StringStart ||
         kind == TokenKind::Integer || kind == TokenKind::Minus;
}

void parse_constraints(Parser& p, Mark mark) {
  const auto constraint = [&](NodeKind kind) {
    const Mark start = p.open();
    p.advance();
    if (kind == NodeKind::PatternConstraint) {
      if (p.at(TokenKind::StringStart)) {
        parse_string(p);
      } else {
        p.report_expected("a quoted pattern");
      }
    } else {
      parse_range_bounds(p);
    }
    p.close(start, kind);
  };
  bool refined = false;
  for (;; refined = true) {
    if (p.at(TokenKind::In) && p.rules().type_ranges) {
      constraint(NodeKind::RangeConstraint);
    } else if (!p.after_newline() && p.at_word("len")) {
      constraint(NodeKind::LengthConstraint);
    } else if (!p.after_newline() && p.at_word("matching")) {
      constraint(NodeKind::PatternConstraint);
    } else {
      break;
    }
  }
  if (refined) p.close(mark, NodeKind::RefinedType);
}

}  // namespace

void parse_type(Parser& p) {
  const Nesting nesting(p);
  const Mark mark = p.open();
  const bool is_trusted = p.at_word("trusted");
  if ((is_trusted || p.at_word("secret")) && begins_type(p.peek(1))) {
    p.advance();
    parse_type(p);
    if (is_trusted && p.at(TokenKind::Else) && p.at_word("approve", 1)) {
      p.advance();
      p.advance();
    }
    p.close(mark, is_trusted ? NodeKind::TrustedType : NodeKind::SecretType);
    return;
  }
  parse_type_operand(p);
  if (p.last_kind_since(mark) == NodeKind::LiteralType && p.at(TokenKind::Pipe)) {
    while (p.accept(TokenKind::Pipe)) parse_type_operand(p);
    p.close(mark, NodeKind::UnionType);
  }
  parse_constraints(p, mark);
}

void parse_type_operand(Parser& p) {
  const Mark mark = p.open();
  switch (p.peek()) {
    case TokenKind::Identifier: {
      const Mark path = p.open();
      TokenIndex name = p.advance();
      while (p.at(TokenKind::ColonColon) && p.peek(1) == TokenKind::Identifier) {
        p.advance();
        name = p.advance();
      }
      if (p.at(TokenKind::Less)) {
        p.advance();
        parse_types_until(p, TokenKind::Greater);
      }
      p.close(path, NodeKind::NamedType, name);
      break;
    }
    case TokenKind::LeftParenthesis: {
      p.advance();
      parse_types_until(p, TokenKind::RightParenthesis);
      p.close(mark, NodeKind::TupleType);
      break;
    }
    case TokenKind::StringStart:
      parse_string(p);
      p.close(mark, NodeKind::LiteralType);
      return;
    case TokenKind::Integer: {
      const Mark number = p.open();
      p.advance();
      p.close(number, NodeKind::IntegerExpression);
      p.close(mark, NodeKind::LiteralType);
      return;
    }
    case TokenKind::Minus: {
      const Mark number = p.open();
      const TokenIndex sign = p.advance();
      const Mark digits = p.open();
      p.expect(TokenKind::Integer);
      p.close(digits, NodeKind::IntegerExpression);
      p.close(number, NodeKind::UnaryExpression, sign);
      p.close(mark, NodeKind::LiteralType);
      return;
    }
    default:
      p.report_expected("a type");
      p.close(mark, NodeKind::Error);
      return;
  }
  while (!p.at_line_end() && p.at(TokenKind::Question)) {
    p.advance();
    p.close(mark, NodeKind::OptionalType);
  }
  reject_array_type(p, mark);
}

void parse_type_arguments(Parser& p) {
  const Mark mark = p.open();
  p.advance();
  parse_types_until(p, TokenKind::Greater);
  p.close(mark, NodeKind::TypeArguments);
}

void parse_types_until(Parser& p, TokenKind close) {
  const Setting lines(p.rules().newlines, false);
  const Setting ranges(p.rules().type_ranges, true);
  parse_elements(p, close, Separator::Comma, close == TokenKind::Greater ? "`,` or `>`" : "`,` or `)`",
                 [&] { parse_type(p); });
}

}  // namespace tenon::syntax
