// What other languages write and this one does not: told of once, with what it is called here.

#include <algorithm>

#include "diagnostics/kinds.h"
#include "diagnostics/nearest.h"
#include "syntax/foreign_words.h"
#include "syntax/parser.h"

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
/// Names of Rust's macros, as somebody may write them in a program of ours; sorted by name.
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

/// Words that a statement begins with and that something follows.
constexpr std::string_view leading_words[] = {"assert", "for", "if", "let", "match", "return", "try", "while"};

/// What declares a variable elsewhere.
constexpr std::string_view declaring_words[] = {"auto", "const", "val", "var"};
/// What stands right in front of a text elsewhere, and says how it is read.
constexpr std::string_view text_prefixes[] = {"b", "f", "r", "t"};

}  // namespace

/// The word is followed by a name or a text on its line, which no expression is.
bool Parser::at_foreign_statement() const {
  if (!at(TokenKind::Identifier) || token(1).after_newline) return false;
  if (!is_foreign_word(tree_.text(index(position_)))) return false;
  return peek(1) == TokenKind::Identifier || peek(1) == TokenKind::StringStart;
}

/// `elif x { … }` is read as `if x { … }`; what other words begin is skipped.
void Parser::parse_foreign_statement() {
  const Mark mark = open();
  const bool is_condition = at_word("elif") || at_word("elsif");
  if (auto* told = report_unexpected("a statement"))
    hint_foreign_word(*told, tree_.text(index(position_)), tree_.span(index(position_)));
  if (!is_condition) {
    skip_to({TokenKind::Semicolon});
    accept(TokenKind::Semicolon);
    return;
  }
  parse_if();
  close(mark, NodeKind::ExpressionStatement);
}

bool Parser::at_foreign_let() const {
  if (peek() != TokenKind::Identifier || peek(1) != TokenKind::Identifier || token(1).after_newline) return false;
  if (peek(2) != TokenKind::Equal && peek(2) != TokenKind::Colon) return false;
  return std::ranges::find(declaring_words, tree_.text(index(position_))) != std::end(declaring_words);
}

void Parser::parse_foreign_let() {
  if (auto* told = report_unexpected("a statement")) {
    told->hint("use `let` to declare a variable").fix = {tree_.span(index(position_)), "let"};
  }
  parse_let();
}

bool Parser::at_text_prefix() const {
  return peek(1) == TokenKind::StringStart && token(1).offset == token().offset + token().length &&
         std::ranges::find(text_prefixes, tree_.text(index(position_))) != std::end(text_prefixes);
}

void Parser::parse_prefixed_text() {
  if (auto* told = report_unexpected("an expression")) {
    told->hint("remove the prefix: every string is a template, write `{{ x }}` in it").fix = {
        tree_.span(index(position_)), ""};
  }
  advance();
  parse_string();
}

bool Parser::reject_unnamed_fields(Mark name) {
  const std::string_view word = tree_.text(last_index());
  if (!at(TokenKind::LeftBrace) || at_line_end() || word.front() < 'A' || word.front() > 'Z') return false;
  if (auto* told = report_unexpected("the end of the statement")) {
    told->hint("name the fields: `" + std::string(word.substr(0, 64)) + " { name: value }`");
  }
  const Setting lines(rules_.newlines, false);
  advance();
  parse_elements(TokenKind::RightBrace, Separator::Comma, "`,` or `}`", [&] { parse_element_expression(); });
  close(name, NodeKind::Error);
  return true;
}

void Parser::reject_mut() {
  if (!at_word("mut") || peek(1) != TokenKind::Identifier || token(1).after_newline) return;
  if (auto* told = report_unexpected("a variable name")) {
    const std::uint32_t start = token().offset;
    told->hint("remove `mut`: every variable is mutable").fix = {{file_.id(), start, token(1).offset - start}, ""};
  }
  advance();
}

void Parser::reject_assignment(Mark condition) {
  if (!at(TokenKind::Equal) || at_line_end()) return;
  if (auto* told = report_unexpected("`{`")) {
    told->hint("use `==` to compare; `=` is assignment").fix = {tree_.span(index(position_)), "=="};
  }
  advance();
  parse_expression();
  close(condition, NodeKind::Error);
}

bool Parser::at_loop() const {
  return at_word("loop") && peek(1) == TokenKind::LeftBrace && !token(1).after_newline;
}

void Parser::parse_loop() {
  const Mark mark = open();
  if (auto* told = report_unexpected("a statement")) {
    told->hint("use `while true { … }` for an endless loop").fix = {tree_.span(index(position_)), "while true"};
  }
  advance();
  close(mark, NodeKind::Error);  // stands where the condition does
  parse_block();
  close(mark, NodeKind::WhileStatement);
}

bool Parser::reject_macro(Mark name) {
  const bool has_list = peek(1) == TokenKind::LeftParenthesis || peek(1) == TokenKind::LeftBracket;
  if (!at(TokenKind::Bang) || !has_list || token(1).offset != token().offset + 1) return false;
  const Token& word = tree_.tokens[last_index()];
  if (word.offset + word.length != token().offset) return false;
  for (const Macro& macro : macros) {
    if (macro.name != tree_.text(last_index())) continue;
    if (auto* told = report_unexpected("`(`")) told->hint(std::string(macro.hint));
    advance();
    if (at(TokenKind::LeftParenthesis)) {
      parse_arguments();
    } else {
      parse_list();
    }
    close(name, NodeKind::Error);
    return true;
  }
  return false;
}

bool Parser::reject_misspelt_keyword(Mark statement) {
  const NodeId expression = pending_.size() > statement.pending ? pending_.back() : NodeId{};
  const bool is_word = expression.exists() && tree_.kind(expression) == NodeKind::NameExpression &&
                       position_ == statement.token + 1 && tree_.tokens[last_index()].kind == TokenKind::Identifier;
  if (!is_word || after_newline() || !at_expression_start() || at(TokenKind::Bang) || follows_from_other_error()) {
    return false;
  }
  const auto nearest = diagnostics::find_nearest(tree_.text(last_index()), leading_words);
  if (!nearest) return false;
  const source::Span span = tree_.span(last_index());
  auto& told = diagnostics_.report(diagnostics::Expected, span, "`" + std::string(tree_.text(last_index())) + "`",
                                   "a statement");
  told.hint("did you mean `" + *nearest + "`?").fix = {span, *nearest};
  mark_reported();
  skip_to({TokenKind::Semicolon});
  accept(TokenKind::Semicolon);
  close(statement, NodeKind::Error);
  return true;
}

void Parser::reject_named_values(std::string_view name) {
  if (!at(TokenKind::LeftBrace) || at_line_end()) return;
  if (auto* told = report_unexpected("`,` or `}`")) {
    told->hint("remove the field names, enum cases have positional values: `" + std::string(name.substr(0, 64)) +
               "(f64, f64)`");
  }
  const Setting lines(rules_.newlines, false);
  advance();
  parse_elements(TokenKind::RightBrace, Separator::CommaOrLineEnd, "`,` or `}`", [&] {
    parse_name("a type");
    if (accept(TokenKind::Colon)) parse_type();
  });
}

}  // namespace tenon::syntax
