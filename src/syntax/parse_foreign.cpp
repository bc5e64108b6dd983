// Syntax of other languages: reported once, with the equivalent in this one.

#include "syntax/parse_foreign.h"

#include <algorithm>

#include "diagnostics/kinds.h"
#include "diagnostics/nearest.h"
#include "syntax/foreign_words.h"
#include "syntax/parse_branches.h"
#include "syntax/parse_expressions.h"
#include "syntax/parse_lists.h"
#include "syntax/parse_statements.h"
#include "syntax/parse_templates.h"
#include "syntax/parse_types.h"

namespace tenon::syntax {
namespace {

struct Macro {
  std::string_view name;
  std::string_view hint;
};

constexpr std::string_view of_texts = R"(there are no macros; use a template string: `"{{ x }}"`)";
constexpr std::string_view of_output =
    R"(there is no print function: return the value, or use a template string: `"{{ x }}"`)";
constexpr std::string_view of_failures = R"(there are no macros; use `fail("…")`)";
constexpr std::string_view of_assertions = "there are no macros; write `assert a == b` in a test";
/// Rust's macros, sorted by name.
constexpr Macro macros[] = {
    {"assert", of_assertions},
    {"assert_eq", of_assertions},
    {"assert_ne", of_assertions},
    {"dbg", of_output},
    {"eprintln", of_output},
    {"format", of_texts},
    {"panic", of_failures},
    {"print", of_output},
    {"println", of_output},
    {"todo", of_failures},
    {"unimplemented", of_failures},
    {"unreachable", of_failures},
    {"vec", "there are no macros; write a list as `[1, 2]`"},
};

/// Keywords that start a statement and are followed by something.
constexpr std::string_view leading_words[] = {"assert", "for", "if", "let", "match", "return", "try", "while"};

/// Words for `else if`.
constexpr std::string_view condition_words[] = {"elif", "elseif", "elsif"};

bool at_condition_word(const Parser& p) {
  return p.at(TokenKind::Identifier) && std::ranges::find(condition_words, p.text_here()) != std::end(condition_words);
}

/// Words that declare a variable in other languages.
constexpr std::string_view declaring_words[] = {"auto", "const", "val", "var"};
/// Letters directly before a string in other languages, which determine how it is read.
constexpr std::string_view text_prefixes[] = {"b", "f", "r", "t"};

}  // namespace

bool at_foreign_statement(const Parser& p) {
  if (!p.at(TokenKind::Identifier) || p.token(1).after_newline) return false;
  if (!is_foreign_word(p.text_here()) || at_expression_tail(p, 1)) return false;
  // After a block, what follows the word is its condition, and not the argument of a call.
  if (at_condition_word(p) && p.position() > 0 && p.last_token().kind == TokenKind::RightBrace) return true;
  return p.peek(1) == TokenKind::Identifier || p.peek(1) == TokenKind::StringStart;
}

void parse_foreign_statement(Parser& p) {
  const Mark mark = p.open();
  const bool is_condition = at_condition_word(p);
  if (auto* report = p.report_unexpected("a statement")) hint_foreign_word(*report, p.text_here(), p.span_here());
  if (!is_condition) {
    skip_to(p, {TokenKind::Semicolon});
    p.accept(TokenKind::Semicolon);
    return;
  }
  parse_if(p);
  p.close(mark, NodeKind::ExpressionStatement);
}

bool at_foreign_let(const Parser& p) {
  if (p.peek() != TokenKind::Identifier || p.peek(1) != TokenKind::Identifier || p.token(1).after_newline) return false;
  if (p.peek(2) != TokenKind::Equal && p.peek(2) != TokenKind::Colon) return false;
  return std::ranges::find(declaring_words, p.text_here()) != std::end(declaring_words);
}

void parse_foreign_let(Parser& p) {
  if (auto* report = p.report_unexpected("a statement")) {
    report->hint("use `let` to declare a variable").fix = {p.span_here(), "let"};
  }
  parse_let(p);
}

bool at_text_prefix(const Parser& p) {
  return p.peek(1) == TokenKind::StringStart && p.token(1).offset == p.token().offset + p.token().length &&
         std::ranges::find(text_prefixes, p.text_here()) != std::end(text_prefixes);
}

void parse_prefixed_text(Parser& p) {
  if (auto* report = p.report_unexpected("an expression")) {
    report->hint("remove the prefix: every string is a template, write `{{ x }}` in it").fix = {p.span_here(), ""};
  }
  p.advance();
  parse_string(p);
}

bool reject_unnamed_fields(Parser& p, Mark name) {
  const std::string_view word = p.last_text();
  if (!p.at(TokenKind::LeftBrace) || p.at_line_end() || word.front() < 'A' || word.front() > 'Z') return false;
  if (auto* report = p.report_unexpected("the end of the statement")) {
    report->hint("name the fields: `" + std::string(word.substr(0, 64)) + " { name: value }`");
  }
  const Setting lines(p.rules().newlines, false);
  p.advance();
  parse_elements(p, TokenKind::RightBrace, Separator::Comma, "`,` or `}`", [&] { parse_element_expression(p); });
  p.close(name, NodeKind::Error);
  return true;
}

void reject_repeated_operator(Parser& p) {
  struct Repeated {
    TokenKind first, second;
    std::string_view hint;
    bool can_be_removed;  ///< the second one
  };
  constexpr Repeated repeated[] = {
      {TokenKind::EqualEqual, TokenKind::Equal, "use `==` to compare", true},
      {TokenKind::BangEqual, TokenKind::Equal, "use `!=` to compare", true},
      {TokenKind::Star, TokenKind::Star, "a power is written `n.pow(2)`, or `x.powf(2.0)` of an `f64`", false},
      {TokenKind::Plus, TokenKind::Plus, "write `x += 1` to add 1", false},
      {TokenKind::Minus, TokenKind::Minus, "write `x -= 1` to subtract 1", false},
  };
  for (const Repeated& one : repeated) {
    const Token& before = p.last_token();
    if (before.kind != one.first || !p.at(one.second) || p.token().offset != before.offset + before.length) continue;
    // `a--b` is `a - (-b)`.
    const bool is_last =
        p.token(1).after_newline || p.peek(1) == TokenKind::Semicolon || p.peek(1) == TokenKind::RightBrace;
    if (one.first == TokenKind::Minus && !is_last) return;
    if (auto* report = p.report_unexpected("an expression")) {
      report->hint(std::string(one.hint));
      if (one.can_be_removed) report->fix = {p.span_here(), ""};
    }
    p.advance();
    return;
  }
}

void reject_default(Parser& p) {
  if (!p.at(TokenKind::Equal)) return;
  if (auto* report = p.report_unexpected("`,` or `)`")) {
    report->hint("remove it: a parameter has no default value; declare a second function that passes the value");
  }
  p.advance();
  parse_expression(p);
}

void reject_return_colon(Parser& p) {
  if (!p.at(TokenKind::Colon)) return;
  if (auto* report = p.report_unexpected("`->` and a type, or a function body `{ … }`")) {
    report->hint("the type of the result follows `->`").fix = {p.span_here(), " ->"};
  }
}

void reject_array_type(Parser& p, Mark type) {
  if (!p.at(TokenKind::LeftBracket) || p.at_line_end() || p.peek(1) != TokenKind::RightBracket) return;
  if (auto* report = p.report_unexpected("the end of the type")) {
    const std::string_view element = p.last_text().substr(0, 64);
    report->hint("a list is written `List<" + std::string(element) + ">`");
  }
  p.advance();
  p.advance();
  p.close(type, NodeKind::Error);
}

bool reject_arrow_closure(Parser& p, Mark parameters) {
  if (!p.at(TokenKind::FatArrow)) return false;
  const NodeKind kind = p.last_kind_since(parameters);
  if (kind != NodeKind::NameExpression && kind != NodeKind::ParenthesizedExpression &&
      kind != NodeKind::TupleExpression)
    return false;
  if (auto* report = p.report_unexpected("`,` or `)`")) report->hint("write a closure as `|x| x + 1`");
  p.advance();
  parse_expression(p);
  p.close(parameters, NodeKind::Error);
  return true;
}

void reject_mut(Parser& p) {
  if (!p.at_word("mut") || p.peek(1) != TokenKind::Identifier || p.token(1).after_newline) return;
  if (auto* report = p.report_unexpected("a variable name")) {
    const std::uint32_t start = p.token().offset;
    report->hint("remove `mut`: every variable is mutable").fix = {{p.file().id(), start, p.token(1).offset - start},
                                                                   ""};
  }
  p.advance();
}

void reject_assignment(Parser& p, Mark condition) {
  if (!p.at(TokenKind::Equal) || p.at_line_end()) return;
  if (auto* report = p.report_unexpected("`{`")) {
    report->hint("use `==` to compare; `=` is assignment").fix = {p.span_here(), "=="};
  }
  p.advance();
  parse_expression(p);
  p.close(condition, NodeKind::Error);
}

bool at_loop(const Parser& p) {
  return p.at_word("loop") && p.peek(1) == TokenKind::LeftBrace && !p.token(1).after_newline;
}

void parse_loop(Parser& p) {
  const Mark mark = p.open();
  if (auto* report = p.report_unexpected("a statement")) {
    report->hint("use `while true { … }` for an endless loop").fix = {p.span_here(), "while true"};
  }
  p.advance();
  p.close(mark, NodeKind::Error);  // in place of the condition
  parse_block(p);
  p.close(mark, NodeKind::WhileStatement);
}

bool reject_macro(Parser& p, Mark name) {
  const bool has_list = p.peek(1) == TokenKind::LeftParenthesis || p.peek(1) == TokenKind::LeftBracket;
  if (!p.at(TokenKind::Bang) || !has_list || p.token(1).offset != p.token().offset + 1) return false;
  const Token& word = p.last_token();
  if (word.offset + word.length != p.token().offset) return false;
  for (const Macro& macro : macros) {
    if (macro.name != p.last_text()) continue;
    if (auto* report = p.report_unexpected("`(`")) report->hint(std::string(macro.hint));
    p.advance();
    if (p.at(TokenKind::LeftParenthesis)) {
      parse_arguments(p);
    } else {
      parse_list(p);
    }
    p.close(name, NodeKind::Error);
    return true;
  }
  return false;
}

bool reject_misspelt_keyword(Parser& p, Mark statement) {
  const bool is_word = p.last_kind_since(statement) == NodeKind::NameExpression &&
                       p.position() == statement.token + 1 && p.last_token().kind == TokenKind::Identifier;
  if (!is_word || p.after_newline() || !at_expression_start(p) || p.at(TokenKind::Bang) ||
      p.follows_from_other_error()) {
    return false;
  }
  // These follow an expression.
  const bool is_tail = p.last_text() == "catch" || p.last_text() == "finally";
  const auto nearest = is_tail ? std::nullopt : diagnostics::find_nearest(p.last_text(), leading_words);
  if (!nearest && !is_tail) return false;
  const source::Span span = p.tree().span(p.last_index());
  auto& report =
      p.diagnostics().report(diagnostics::Expected, span, "`" + std::string(p.last_text()) + "`", "a statement");
  if (nearest) {
    report.hint("did you mean `" + *nearest + "`?").fix = {span, *nearest};
  } else {
    report.hint(p.last_text() == "catch" ? "`catch` follows the expression that can fail: `f() catch e { … }`"
                                         : "`finally` follows the expression that can fail: `f() finally { … }`");
  }
  p.mark_reported();
  skip_to(p, {TokenKind::Semicolon});
  p.accept(TokenKind::Semicolon);
  p.close(statement, NodeKind::Error);
  return true;
}

void reject_named_values(Parser& p, std::string_view name) {
  if (!p.at(TokenKind::LeftBrace) || p.at_line_end()) return;
  if (auto* report = p.report_unexpected("`,` or `}`")) {
    report->hint("remove the field names, enum cases have positional values: `" + std::string(name.substr(0, 64)) +
                 "(f64, f64)`");
  }
  const Setting lines(p.rules().newlines, false);
  p.advance();
  parse_elements(p, TokenKind::RightBrace, Separator::CommaOrLineEnd, "`,` or `}`", [&] {
    p.expect_name("a type");
    if (p.accept(TokenKind::Colon)) parse_type(p);
  });
}

}  // namespace tenon::syntax
