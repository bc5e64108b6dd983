// Expressions, by precedence: `catch` and `finally`, ranges, `??`, `||`, `&&`, comparisons, sums, products, `as`,
// prefixes, postfixes.

#include "diagnostics/kinds.h"
#include "syntax/parser.h"

namespace tenon::syntax {
namespace {

constexpr int range_precedence = 1;
constexpr int default_precedence = 2;
constexpr int comparison_precedence = 5;
constexpr int sum_precedence = 6;
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
    case TokenKind::PipePipe:
    case TokenKind::DotDot:
    case TokenKind::DotDotEqual:
      return true;
    default:
      return false;
  }
}

int Parser::binary_precedence() const {
  switch (peek()) {
    case TokenKind::DotDot:
    case TokenKind::DotDotEqual:
      return at_line_end() ? 0 : range_precedence;
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
      return at_line_end() ? 0 : sum_precedence;
    case TokenKind::Star:
    case TokenKind::Slash:
    case TokenKind::Percent:
      return 7;
    case TokenKind::As:
      // In a contract words may stand behind the expression: `ensures result > 0 as "is positive"`.
      return !rules_.limits && peek(1) == TokenKind::StringStart ? 0 : cast_precedence;
    default:
      return 0;
  }
}

bool Parser::at_expression_tail(std::size_t ahead) const {
  if (at_word("finally", ahead)) return peek(ahead + 1) == TokenKind::LeftBrace;
  return at_word("catch", ahead) &&
         (peek(ahead + 1) == TokenKind::Identifier || peek(ahead + 1) == TokenKind::Underscore) &&
         peek(ahead + 2) == TokenKind::LeftBrace;
}

void Parser::parse_expression() {
  const Nesting nesting(*this);
  const Mark mark = open();
  parse_binary(range_precedence);
  for (;;) {
    if (at_word("catch") && at_expression_tail(0)) {
      advance();
      const TokenIndex name = advance();
      parse_block();
      close(mark, NodeKind::CatchExpression, name);
    } else if (at_expression_tail(0)) {
      const TokenIndex word = advance();
      parse_block();
      close(mark, NodeKind::FinallyExpression, word);
    } else {
      return;
    }
  }
}

void Parser::parse_expression_without_struct_literals() {
  const Setting literals(rules_.struct_literals, false);
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
      const bool has_end =
          at_expression_start() && !at_line_end() && (rules_.struct_literals || !at(TokenKind::LeftBrace));
      if (has_end) parse_binary(range_precedence + 1);
      close(mark, NodeKind::RangeExpression, operation);
      return;
    } else {
      // `??` groups to the right, everything else to the left.
      const Nesting nesting(*this);
      parse_binary(precedence == default_precedence ? precedence : precedence + 1);
      close(mark, NodeKind::BinaryExpression, operation);
      if (precedence == comparison_precedence && binary_precedence() == comparison_precedence &&
          !follows_from_other_error()) {
        diagnostics_.report(diagnostics::ChainedComparison, tree_.span(index(position_)))
            .hint("join two comparisons with `&&`, or put one of them in parentheses");
        mark_reported();
      }
    }
  }
}

/// The range of a refined type: its ends hold no comparison, as `>` may end a list of types.
void Parser::parse_range_bounds() {
  const Setting literals(rules_.struct_literals, false);
  const Mark mark = open();
  const auto at_range = [this] { return at(TokenKind::DotDot) || at(TokenKind::DotDotEqual); };
  if (!at_range()) parse_binary(sum_precedence);
  if (!at_range()) {
    report_expected("a range such as `0..=10`");
    return;
  }
  const TokenIndex operation = advance();
  const bool has_end = at_expression_start() && !at_line_end() && !at(TokenKind::LeftBrace) && !at_budget() &&
                       !at_strategy() && !at_contract();
  if (has_end) parse_binary(sum_precedence);
  close(mark, NodeKind::RangeExpression, operation);
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
    default:
      parse_postfix();
  }
}

void Parser::parse_postfix() {
  const Mark mark = open();
  parse_operand();
  for (;;) {
    if (at(TokenKind::Dot) || at(TokenKind::QuestionDot)) {
      const TokenIndex dot = advance();
      const bool optional = tree_.tokens[dot].kind == TokenKind::QuestionDot;
      if (at(TokenKind::Integer) && !optional) {  // a tuple's item: `pair.0`
        const TokenIndex item = advance();
        close(mark, NodeKind::FieldExpression, item);
        continue;
      }
      if (!at(TokenKind::Identifier)) {
        report_expected("a field or method");
        close(mark, NodeKind::Error);
        return;
      }
      const TokenIndex name = advance();
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
      const Setting lines(rules_.newlines, false);
      const Setting literals(rules_.struct_literals, true);
      advance();
      const Mark position = open();
      parse_element_expression();
      if (!accept(TokenKind::RightBracket)) {
        report_expected("`]`");
        if (position_ != position.token && recover_in_list(TokenKind::RightBracket, position.token)) {
          parse_elements(TokenKind::RightBracket, Separator::Comma, "`]`", [&] { parse_element_expression(); });
        }
      }
      close(mark, NodeKind::IndexExpression);
    } else if (rules_.limits && at_budget() && !at_line_end()) {
      parse_limits_clause(NodeKind::BudgetClause, "a limit such as `calls: 10`");
      close(mark, NodeKind::BudgetExpression);
    } else if (rules_.limits && at_strategy() && !at_line_end()) {
      parse_limits_clause(NodeKind::StrategyClause, "a strategy such as `repair: 2`");
      close(mark, NodeKind::StrategyExpression);
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
    case TokenKind::Integer:
      single(NodeKind::IntegerExpression);
      return check_number_end();
    case TokenKind::Float:
      single(NodeKind::FloatExpression);
      return check_number_end();
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
      return parse_string();
    case TokenKind::LeftParenthesis:
      return parse_parentheses();
    case TokenKind::LeftBracket:
      return parse_list();
    case TokenKind::LeftBrace:
      return parse_block();
    case TokenKind::If:
      return parse_if();
    case TokenKind::Match:
      return parse_match();
    case TokenKind::Select:
      return parse_select();
    case TokenKind::For:
      return parse_for();
    case TokenKind::Pipe:
    case TokenKind::PipePipe:
      return parse_closure();
    case TokenKind::Identifier:
      if (peek(1) == TokenKind::LeftBrace && rules_.struct_literals && at_word("parallel")) return parse_parallel();
      if (at_tools()) return parse_tools();
      if (at_pursue()) return parse_pursue();
      if (at_text_prefix()) return parse_prefixed_text();
      return parse_name_expression();
    default:
      report_expected("an expression");
      close(mark, NodeKind::Error);
  }
}

/// A number has no letters right behind it, but for a unit where one is allowed.
void Parser::check_number_end() {
  if (!at(TokenKind::Identifier)) return;
  const Token& number = tree_.tokens[last_index()];
  if (number.offset + number.length != token().offset) return;
  const TokenIndex unit = advance();
  if (rules_.units) return;
  const source::Span whole{file_.id(), number.offset, number.length + tree_.tokens[unit].length};
  diagnostics_.report(diagnostics::MalformedNumber, whole, std::string(file_.text(whole).substr(0, 32)));
}

void Parser::parse_name_expression() {
  const Mark mark = open();
  TokenIndex name = advance();
  if (reject_macro(mark)) return;
  while (at(TokenKind::ColonColon)) {
    const TokenIndex colons = advance();
    if (at_type_arguments()) {
      if (auto* told = report_expected("a name")) {
        told->hint("write type arguments directly after the name: `parse<i32>(text)`").fix = {tree_.span(colons), ""};
      }
      break;
    }
    name = parse_name("a name");
  }
  if (at_type_arguments()) parse_type_arguments();
  close(mark, NodeKind::NameExpression, name);
  // No block begins with `name:`, so that a struct's value is known by it also where a block may follow.
  const bool has_named_value = peek(1) == TokenKind::Identifier && peek(2) == TokenKind::Colon;
  if (at(TokenKind::LeftBrace) && !at_line_end() &&
      (has_named_value || (rules_.struct_literals && at_struct_fields()))) {
    parse_struct_fields();
    close(mark, NodeKind::StructExpression, name);
  } else if (rules_.struct_literals) {
    reject_unnamed_fields(mark);
  }
}

bool Parser::at_struct_fields() const {
  if (peek(1) == TokenKind::RightBrace) return true;
  return peek(1) == TokenKind::Identifier &&
         (peek(2) == TokenKind::Colon || peek(2) == TokenKind::Comma || peek(2) == TokenKind::RightBrace);
}

void Parser::parse_struct_fields() {
  const Setting lines(rules_.newlines, false);
  advance();
  parse_elements(TokenKind::RightBrace, Separator::Comma, "`,` or `}`", [&] {
    const Mark field = open();
    const TokenIndex name = parse_name("a field such as `name: value`");
    if (accept(TokenKind::Colon)) parse_element_expression();
    close(field, position_ == field.token ? NodeKind::Error : NodeKind::FieldInitializer, name);
  });
}

/// Whether a `<` begins type arguments: what follows reads like types up to a `>` with a `(` behind it.
bool Parser::at_type_arguments() const {
  if (!at(TokenKind::Less) || at_line_end()) return false;
  std::size_t depth = 0;
  std::size_t parentheses = 0;
  bool refined = false;
  for (std::size_t ahead = 0; ahead < type_arguments_tokens_max; ++ahead) {
    switch (peek(ahead)) {
      case TokenKind::Less:
        ++depth;
        break;
      case TokenKind::Greater:
        if (--depth == 0) {
          return peek(ahead + 1) == TokenKind::LeftParenthesis && !(rules_.newlines && token(ahead + 1).after_newline);
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
        // `f<i32 in 0..5>(x)` has types, `f(a < 1, b > (c))` has not.
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

/// One element of a list in brackets.
void Parser::parse_element_expression() {
  parse_expression();
  reject_injection();
}

bool Parser::reject_injection() {
  if (!at(TokenKind::Bang) || at_line_end()) return false;
  if (!follows_from_other_error()) {
    diagnostics_.report(diagnostics::InjectionInside, tree_.span(index(position_)))
        .hint("bind the value with `let` first, then inject it in its own statement");
    mark_reported();
  }
  advance();
  return true;
}

void Parser::parse_parentheses() {
  const Mark mark = open();
  const Setting lines(rules_.newlines, false);
  const Setting literals(rules_.struct_literals, true);
  advance();
  bool tuple = at(TokenKind::RightParenthesis);
  parse_elements(TokenKind::RightParenthesis, Separator::Comma, "`,` or `)`", [&] {
    parse_element_expression();
    tuple = tuple || at(TokenKind::Comma);
  });
  close(mark, tuple ? NodeKind::TupleExpression : NodeKind::ParenthesizedExpression);
}

void Parser::parse_list() {
  const Mark mark = open();
  const Setting lines(rules_.newlines, false);
  const Setting literals(rules_.struct_literals, true);
  advance();
  parse_elements(TokenKind::RightBracket, Separator::Comma, "`,` or `]`", [&] { parse_element_expression(); });
  close(mark, NodeKind::ListExpression);
}

void Parser::parse_arguments() {
  const Mark mark = open();
  const Setting lines(rules_.newlines, false);
  const Setting literals(rules_.struct_literals, true);
  advance();
  parse_elements(TokenKind::RightParenthesis, Separator::Comma, "`,` or `)`", [&] {
    if (at(TokenKind::Identifier) && peek(1) == TokenKind::Colon) {
      if (auto* told = report_unexpected("an argument")) told->hint("remove the name: arguments are positional");
      advance();
      advance();
    }
    parse_element_expression();
  });
  close(mark, NodeKind::Arguments);
}

void Parser::parse_if() {
  const Mark mark = open();
  const Nesting nesting(*this);
  advance();
  parse_condition();
  if (heads_section(mark, NodeKind::TemplateIf)) return;
  parse_block();
  // `else =>` is the last clause of a `select` around this.
  if (peek(1) != TokenKind::FatArrow && accept(TokenKind::Else)) {
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

/// `{ … }` of a match, select or parallel: elements at the ends of lines, or with commas between them.
template <class ParseElement>
void Parser::parse_arms(NodeKind kind, ParseElement parse_element) {
  const Setting lines(rules_.newlines, true);
  const Setting literals(rules_.struct_literals, true);
  const Setting units(rules_.units, false);
  if (!expect(TokenKind::LeftBrace)) return;
  const Setting arrows(recovery_.arrow_reported, false);
  parse_elements(TokenKind::RightBrace, Separator::CommaOrLineEnd, "`,` or `}`", [&] {
    const Mark mark = open();
    TokenIndex main_token = index(position_);
    parse_element(main_token);
    close(mark, position_ == mark.token ? NodeKind::Error : kind, main_token);
  });
}

/// Whether the block here is followed by another one: then it is a value, as in `match { f() } { … }`.
bool Parser::at_block_before_block() const {
  std::size_t depth = 0;
  for (std::size_t at = position_; kinds_[at] != TokenKind::End; ++at) {
    if (kinds_[at] == TokenKind::LeftBrace) ++depth;
    if (kinds_[at] == TokenKind::RightBrace && --depth == 0) return kinds_[at + 1] == TokenKind::LeftBrace;
  }
  return false;
}

void Parser::parse_match() {
  const Nesting nesting(*this);
  const Mark mark = open();
  advance();
  if (at(TokenKind::LeftBrace) && !at_block_before_block()) {
    report_unexpected("a value to match");
    add_empty(NodeKind::Error);
    end_recovery();
  } else {
    parse_expression_without_struct_literals();
  }
  parse_arms(NodeKind::MatchArm, [&](TokenIndex&) {
    parse_pattern();
    if (at(TokenKind::If)) {
      const Mark guard = open();
      advance();
      parse_expression();
      close(guard, NodeKind::Guard);
    }
    if (expect(TokenKind::FatArrow)) parse_body();
  });
  close(mark, NodeKind::MatchExpression);
}

void Parser::parse_select() {
  const Nesting nesting(*this);
  const Mark mark = open();
  advance();
  parse_arms(NodeKind::SelectClause, [&](TokenIndex& name) {
    if (!accept(TokenKind::Else)) {
      if (at(TokenKind::DotDot)) {
        const Mark spread = open();
        advance();
        parse_postfix();
        close(spread, NodeKind::SpreadExpression);
      } else {
        parse_postfix();
      }
      if (accept(TokenKind::As)) name = parse_name("a name for the result");
    }
    if (expect(TokenKind::FatArrow)) parse_body();
  });
  close(mark, NodeKind::SelectExpression);
}

/// `pursue GOAL from START limit 10 width 3 { action(ctx, _) as name, … }`
void Parser::parse_pursue() {
  const Nesting nesting(*this);
  const Mark mark = open();
  advance();
  parse_expression_without_struct_literals();
  if (at_word("from")) {
    advance();
    parse_expression_without_struct_literals();
  } else {
    report_expected("`from` and the initial state");
  }
  while (at_word("limit") || at_word("width")) {
    const Mark limit = open();
    advance();
    parse_expression_without_struct_literals();
    close(limit, NodeKind::PursueLimit);
  }
  parse_arms(NodeKind::PursueAction, [&](TokenIndex& name) {
    parse_postfix();
    if (accept(TokenKind::As)) name = parse_name("a name for the action");
  });
  close(mark, NodeKind::PursueExpression);
}

/// `tools` is a word like any other but right before a brace.
bool Parser::at_tools() const {
  return at_word("tools") && peek(1) == TokenKind::LeftBrace && rules_.struct_literals && !token(1).after_newline;
}

void Parser::parse_tools() {
  const Nesting nesting(*this);
  const Mark mark = open();
  advance();
  parse_arms(NodeKind::ToolEntry, [&](TokenIndex& name) {
    parse_postfix();
    if (accept(TokenKind::As)) name = parse_name("a name for the tool");
  });
  close(mark, NodeKind::ToolsExpression);
}

void Parser::parse_closure() {
  const Mark mark = open();
  if (!accept(TokenKind::PipePipe)) {
    advance();
    parse_elements(TokenKind::Pipe, Separator::Comma, "`,` or `|`", [&] { parse_pattern_operand(); });
  }
  parse_expression();
  close(mark, NodeKind::ClosureExpression);
}

void Parser::parse_parallel() {
  const Nesting nesting(*this);
  const Mark mark = open();
  advance();
  parse_arms(NodeKind::ParallelBranch, [&](TokenIndex&) {
    if (at(TokenKind::Identifier) && peek(1) == TokenKind::Equal) {
      advance();
      advance();
    }
    parse_expression();
  });
  close(mark, NodeKind::ParallelExpression);
}

}  // namespace tenon::syntax
