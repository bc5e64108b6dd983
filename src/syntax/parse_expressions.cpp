// Expressions, by precedence: `catch` and `finally`, ranges, `??`, `||`, `&&`, comparisons, sums, products, `as`,
// prefixes, postfixes.

#include "syntax/parse_expressions.h"

#include "diagnostics/kinds.h"
#include "syntax/parse_branches.h"
#include "syntax/parse_clauses.h"
#include "syntax/parse_foreign.h"
#include "syntax/parse_lists.h"
#include "syntax/parse_patterns.h"
#include "syntax/parse_statements.h"
#include "syntax/parse_templates.h"
#include "syntax/parse_types.h"

namespace tenon::syntax {
namespace {

constexpr int range_precedence = 1;
constexpr int default_precedence = 2;
constexpr int comparison_precedence = 5;
constexpr int sum_precedence = 6;
constexpr int cast_precedence = 8;
/// After this many tokens without its `>`, a `<` is read as a comparison.
constexpr std::size_t type_arguments_tokens_max = 256;

int binary_precedence(const Parser& p) {
  switch (p.peek()) {
    case TokenKind::DotDot:
    case TokenKind::DotDotEqual:
      return p.at_line_end() ? 0 : range_precedence;
    case TokenKind::QuestionQuestion:
      return default_precedence;
    case TokenKind::PipePipe:
      return 3;
    case TokenKind::AmpersandAmpersand:
      return 4;
    case TokenKind::EqualEqual:
    case TokenKind::BangEqual:
    case TokenKind::Less:
    case TokenKind::LessEqual:
    case TokenKind::Greater:
    case TokenKind::GreaterEqual:
      return comparison_precedence;
    case TokenKind::Plus:
      return sum_precedence;
    case TokenKind::Minus:
      return p.at_line_end() ? 0 : sum_precedence;
    case TokenKind::Star:
    case TokenKind::Slash:
    case TokenKind::Percent:
      return 7;
    case TokenKind::As:
      // In a contract, a description can follow the expression: `ensures result > 0 as "is positive"`.
      return !p.rules().limits && p.peek(1) == TokenKind::StringStart ? 0 : cast_precedence;
    default:
      return 0;
  }
}

void parse_binary(Parser& p, int precedence_min) {
  const Mark mark = p.open();
  if (p.at(TokenKind::DotDot) || p.at(TokenKind::DotDotEqual)) {
    const TokenIndex operation = p.advance();
    if (at_expression_start(p) && !p.at_line_end() && !p.at(TokenKind::LeftBrace))
      parse_binary(p, range_precedence + 1);
    p.close(mark, NodeKind::RangeExpression, operation);
    return;
  }
  parse_prefix(p);
  for (;;) {
    const int precedence = binary_precedence(p);
    if (precedence == 0 || precedence < precedence_min) return;
    const TokenIndex operation = p.advance();
    reject_repeated_operator(p);
    if (precedence == cast_precedence) {
      parse_type_operand(p);
      p.close(mark, NodeKind::CastExpression, operation);
    } else if (precedence == range_precedence) {
      const bool has_end =
          at_expression_start(p) && !p.at_line_end() && (p.rules().struct_literals || !p.at(TokenKind::LeftBrace));
      if (has_end) parse_binary(p, range_precedence + 1);
      p.close(mark, NodeKind::RangeExpression, operation);
      return;
    } else {
      // `??` groups to the right, everything else to the left.
      const Nesting nesting(p);
      parse_binary(p, precedence == default_precedence ? precedence : precedence + 1);
      p.close(mark, NodeKind::BinaryExpression, operation);
      if (precedence == comparison_precedence && binary_precedence(p) == comparison_precedence &&
          !p.follows_from_other_error()) {
        p.diagnostics()
            .report(diagnostics::ChainedComparison, p.span_here())
            .hint("join two comparisons with `&&`, or put one of them in parentheses");
        p.mark_reported();
      }
    }
  }
}

/// Reports letters directly after a number, unless a unit is allowed.
void check_number_end(Parser& p) {
  if (!p.at(TokenKind::Identifier)) return;
  const Token& number = p.last_token();
  if (number.offset + number.length != p.token().offset) return;
  const TokenIndex unit = p.advance();
  if (p.rules().units) return;
  const source::Span whole{p.file().id(), number.offset, number.length + p.tree().tokens[unit].length};
  p.diagnostics().report(diagnostics::MalformedNumber, whole, std::string(p.file().text(whole).substr(0, 32)));
}

void parse_struct_fields(Parser& p) {
  const Setting lines(p.rules().newlines, false);
  p.advance();
  parse_elements(p, TokenKind::RightBrace, Separator::Comma, "`,` or `}`", [&] {
    const Mark field = p.open();
    const TokenIndex name = p.expect_name("a field such as `name: value`");
    if (p.accept(TokenKind::Colon)) parse_element_expression(p);
    p.close_or_error(field, NodeKind::FieldInitializer, name);
  });
}

bool at_type_arguments(const Parser& p) {
  if (!p.at(TokenKind::Less) || p.at_line_end()) return false;
  std::size_t depth = 0;
  std::size_t parentheses = 0;
  bool refined = false;
  for (std::size_t ahead = 0; ahead < type_arguments_tokens_max; ++ahead) {
    switch (p.peek(ahead)) {
      case TokenKind::Less:
        ++depth;
        break;
      case TokenKind::Greater:
        if (--depth == 0) {
          return p.peek(ahead + 1) == TokenKind::LeftParenthesis &&
                 !(p.rules().newlines && p.token(ahead + 1).after_newline);
        }
        break;
      case TokenKind::LeftParenthesis:
        ++parentheses;
        break;
      case TokenKind::RightParenthesis:
        // The end of what surrounds the `<`, as in `g(a < b) > (3)`.
        if (parentheses-- == 0) return false;
        break;
      case TokenKind::In:
        refined = true;
        break;
      case TokenKind::Integer:
      case TokenKind::Float:
      case TokenKind::Minus:
      case TokenKind::DotDot:
      case TokenKind::DotDotEqual:
        // `f<i32 in 0..5>(x)` has type arguments, `f(a < 1, b > (c))` does not.
        if (!refined) return false;
        break;
      case TokenKind::Identifier:
      case TokenKind::Comma:
      case TokenKind::Question:
      case TokenKind::ColonColon:
      case TokenKind::Pipe:
      case TokenKind::StringStart:
      case TokenKind::StringText:
      case TokenKind::StringEnd:
        break;
      default:
        return false;
    }
  }
  return false;
}

void parse_name_expression(Parser& p) {
  const Mark mark = p.open();
  TokenIndex name = p.advance();
  if (reject_macro(p, mark)) return;
  while (p.at(TokenKind::ColonColon)) {
    const TokenIndex colons = p.advance();
    if (at_type_arguments(p)) {
      if (auto* report = p.report_expected("a name")) {
        report->hint("write type arguments directly after the name: `parse<i32>(text)`").fix = {p.tree().span(colons),
                                                                                                ""};
      }
      break;
    }
    if (p.at(TokenKind::Identifier) && p.after_newline()) {
      p.report_expected("a name");
      break;
    }
    name = p.expect_name("a name");
  }
  if (at_type_arguments(p)) parse_type_arguments(p);
  p.close(mark, NodeKind::NameExpression, name);
  // No block starts with `name:`, so this is a struct's value even where a block can follow.
  const bool has_named_value = p.peek(1) == TokenKind::Identifier && p.peek(2) == TokenKind::Colon;
  if (p.at(TokenKind::LeftBrace) && !p.at_line_end() &&
      (has_named_value || (p.rules().struct_literals && at_struct_fields(p)))) {
    parse_struct_fields(p);
    p.close(mark, NodeKind::StructExpression, name);
  } else if (p.rules().struct_literals) {
    reject_unnamed_fields(p, mark);
  }
}

void parse_parentheses(Parser& p) {
  const Mark mark = p.open();
  const Setting lines(p.rules().newlines, false);
  const Setting literals(p.rules().struct_literals, true);
  p.advance();
  bool tuple = p.at(TokenKind::RightParenthesis);
  parse_elements(p, TokenKind::RightParenthesis, Separator::Comma, "`,` or `)`", [&] {
    parse_element_expression(p);
    tuple = tuple || p.at(TokenKind::Comma);
  });
  p.close(mark, tuple ? NodeKind::TupleExpression : NodeKind::ParenthesizedExpression);
}

void parse_closure(Parser& p) {
  const Mark mark = p.open();
  if (!p.accept(TokenKind::PipePipe)) {
    p.advance();
    parse_elements(p, TokenKind::Pipe, Separator::Comma, "`,` or `|`", [&] { parse_pattern_operand(p); });
  }
  parse_expression(p);
  p.close(mark, NodeKind::ClosureExpression);
}

/// `shield {` on one line; otherwise it is a name.
bool at_shield(const Parser& p) {
  return p.at_word("shield") && p.rules().struct_literals && p.peek(1) == TokenKind::LeftBrace &&
         !p.token(1).after_newline && !(p.peek(2) == TokenKind::Identifier && p.peek(3) == TokenKind::Colon);
}

void parse_shield(Parser& p) {
  const Mark mark = p.open();
  p.advance();
  parse_block(p);
  p.close(mark, NodeKind::ShieldExpression);
}

void parse_operand(Parser& p) {
  const Mark mark = p.open();
  const auto single = [&](NodeKind kind) {
    p.advance();
    p.close(mark, kind);
  };
  switch (p.peek()) {
    case TokenKind::Integer:
      single(NodeKind::IntegerExpression);
      return check_number_end(p);
    case TokenKind::Float:
      single(NodeKind::FloatExpression);
      return check_number_end(p);
    case TokenKind::True:
    case TokenKind::False:
      return single(NodeKind::BooleanExpression);
    case TokenKind::Underscore:
      return single(NodeKind::HoleExpression);
    case TokenKind::Break:
      return single(NodeKind::BreakExpression);
    case TokenKind::Continue:
      return single(NodeKind::ContinueExpression);
    case TokenKind::StringStart:
      return parse_string(p);
    case TokenKind::LeftParenthesis:
      return parse_parentheses(p);
    case TokenKind::LeftBracket:
      return parse_list(p);
    case TokenKind::LeftBrace:
      return parse_block(p);
    case TokenKind::If:
      return parse_if(p);
    case TokenKind::Match:
      return parse_match(p);
    case TokenKind::Select:
      return parse_select(p);
    case TokenKind::For:
      return parse_for(p);
    case TokenKind::Pipe:
    case TokenKind::PipePipe:
      return parse_closure(p);
    case TokenKind::Identifier:
      if (p.peek(1) == TokenKind::LeftBrace && p.rules().struct_literals && p.at_word("parallel"))
        return parse_parallel(p);
      if (at_shield(p)) return parse_shield(p);
      if (at_tools(p)) return parse_tools(p);
      if (at_pursue(p)) return parse_pursue(p);
      if (at_text_prefix(p)) return parse_prefixed_text(p);
      return parse_name_expression(p);
    default:
      p.report_expected("an expression");
      p.close(mark, NodeKind::Error);
  }
}

}  // namespace

bool at_expression_start(const Parser& p) {
  switch (p.peek()) {
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
    case TokenKind::PipePipe:
    case TokenKind::DotDot:
    case TokenKind::DotDotEqual:
      return true;
    default:
      return false;
  }
}

bool at_expression_tail(const Parser& p, std::size_t ahead) {
  if (p.at_word("finally", ahead)) return p.peek(ahead + 1) == TokenKind::LeftBrace;
  return p.at_word("catch", ahead) &&
         (p.peek(ahead + 1) == TokenKind::Identifier || p.peek(ahead + 1) == TokenKind::Underscore) &&
         p.peek(ahead + 2) == TokenKind::LeftBrace;
}

void parse_expression(Parser& p) {
  const Nesting nesting(p);
  const Mark mark = p.open();
  parse_binary(p, range_precedence);
  for (;;) {
    if (p.at_word("catch") && at_expression_tail(p, 0)) {
      p.advance();
      const TokenIndex name = p.advance();
      parse_block(p);
      p.close(mark, NodeKind::CatchExpression, name);
    } else if (at_expression_tail(p, 0)) {
      const TokenIndex word = p.advance();
      parse_block(p);
      p.close(mark, NodeKind::FinallyExpression, word);
    } else {
      return;
    }
  }
}

void parse_expression_without_struct_literals(Parser& p) {
  const Setting literals(p.rules().struct_literals, false);
  parse_expression(p);
}

void parse_range_bounds(Parser& p) {
  const Setting literals(p.rules().struct_literals, false);
  const Mark mark = p.open();
  const auto at_range = [&p] { return p.at(TokenKind::DotDot) || p.at(TokenKind::DotDotEqual); };
  if (!at_range()) parse_binary(p, sum_precedence);
  if (!at_range()) {
    p.report_expected("a range such as `0..=10`");
    return;
  }
  const TokenIndex operation = p.advance();
  const bool has_end = at_expression_start(p) && !p.at_line_end() && !p.at(TokenKind::LeftBrace) && !at_budget(p) &&
                       !at_strategy(p) && !at_contract(p);
  if (has_end) parse_binary(p, sum_precedence);
  p.close(mark, NodeKind::RangeExpression, operation);
}

void parse_prefix(Parser& p) {
  const Mark mark = p.open();
  switch (p.peek()) {
    case TokenKind::Minus:
    case TokenKind::Bang: {
      const Nesting nesting(p);
      const TokenIndex operation = p.advance();
      parse_prefix(p);
      p.close(mark, NodeKind::UnaryExpression, operation);
      return;
    }
    case TokenKind::Try: {
      const Nesting nesting(p);
      p.advance();
      parse_binary(p, range_precedence);
      p.close(mark, NodeKind::TryExpression);
      return;
    }
    case TokenKind::Return:
      p.advance();
      if (at_expression_start(p) && !p.at_line_end()) parse_expression(p);
      p.close(mark, NodeKind::ReturnExpression);
      return;
    default:
      parse_postfix(p);
  }
}

void parse_postfix(Parser& p) {
  const Mark mark = p.open();
  parse_operand(p);
  for (;;) {
    if (p.at(TokenKind::Dot) || p.at(TokenKind::QuestionDot)) {
      p.advance();
      if (p.at(TokenKind::Integer) && !p.after_newline()) {  // a tuple's item: `pair.0`
        const TokenIndex item = p.advance();
        p.close(mark, NodeKind::FieldExpression, item);
        continue;
      }
      // The word that begins the next line is not what the dot takes.
      if (!p.at(TokenKind::Identifier) || p.after_newline()) {
        p.report_expected("a field or method");
        p.close(mark, NodeKind::Error);
        return;
      }
      const TokenIndex name = p.advance();
      const bool typed = at_type_arguments(p);
      if (typed) parse_type_arguments(p);
      if (p.at(TokenKind::LeftParenthesis) && !p.at_line_end()) {
        parse_arguments(p);
        p.close(mark, NodeKind::MethodCallExpression, name);
      } else {
        p.close(mark, NodeKind::FieldExpression, name);
      }
    } else if (p.at(TokenKind::LeftParenthesis) && !p.at_line_end()) {
      parse_arguments(p);
      p.close(mark, NodeKind::CallExpression);
    } else if (p.at(TokenKind::LeftBracket) && !p.at_line_end()) {
      const Setting lines(p.rules().newlines, false);
      const Setting literals(p.rules().struct_literals, true);
      p.advance();
      const Mark position = p.open();
      parse_element_expression(p);
      if (!p.accept(TokenKind::RightBracket)) {
        p.report_expected("`]`");
        if (p.has_advanced(position) && recover_in_list(p, TokenKind::RightBracket, position.token)) {
          parse_elements(p, TokenKind::RightBracket, Separator::Comma, "`]`", [&] { parse_element_expression(p); });
        }
      }
      p.close(mark, NodeKind::IndexExpression);
    } else if (p.rules().limits && at_budget(p) && !p.at_line_end()) {
      parse_limits_clause(p, NodeKind::BudgetClause, "a limit such as `calls: 10`");
      p.close(mark, NodeKind::BudgetExpression);
    } else if (p.rules().limits && at_strategy(p) && !p.at_line_end()) {
      parse_limits_clause(p, NodeKind::StrategyClause, "a strategy such as `repair: 2`");
      p.close(mark, NodeKind::StrategyExpression);
    } else {
      return;
    }
  }
}

bool at_struct_fields(const Parser& p) {
  if (p.peek(1) == TokenKind::RightBrace) return true;
  return p.peek(1) == TokenKind::Identifier &&
         (p.peek(2) == TokenKind::Colon || p.peek(2) == TokenKind::Comma || p.peek(2) == TokenKind::RightBrace);
}

void parse_element_expression(Parser& p) {
  parse_expression(p);
  reject_injection(p);
}

bool reject_injection(Parser& p) {
  if (!p.at(TokenKind::Bang) || p.at_line_end()) return false;
  if (!p.follows_from_other_error()) {
    p.diagnostics()
        .report(diagnostics::InjectionInside, p.span_here())
        .hint("bind the value with `let` first, then inject it in its own statement");
    p.mark_reported();
  }
  p.advance();
  return true;
}

void parse_list(Parser& p) {
  const Mark mark = p.open();
  const Setting lines(p.rules().newlines, false);
  const Setting literals(p.rules().struct_literals, true);
  p.advance();
  parse_elements(p, TokenKind::RightBracket, Separator::Comma, "`,` or `]`", [&] { parse_element_expression(p); });
  p.close(mark, NodeKind::ListExpression);
}

void parse_arguments(Parser& p) {
  const Mark mark = p.open();
  const Setting lines(p.rules().newlines, false);
  const Setting literals(p.rules().struct_literals, true);
  p.advance();
  parse_elements(p, TokenKind::RightParenthesis, Separator::Comma, "`,` or `)`", [&] {
    if (p.at(TokenKind::Identifier) && p.peek(1) == TokenKind::Colon) {
      if (auto* report = p.report_unexpected("an argument")) report->hint("remove the name: arguments are positional");
      p.advance();
      p.advance();
    }
    const Mark argument = p.open();
    parse_element_expression(p);
    reject_arrow_closure(p, argument);
  });
  p.close(mark, NodeKind::Arguments);
}

}  // namespace tenon::syntax
