// Items, and the lists in their heads.

#include "syntax/parse_items.h"

#include "syntax/foreign_words.h"
#include "syntax/item_keywords.h"
#include "syntax/parse_agents.h"
#include "syntax/parse_clauses.h"
#include "syntax/parse_expressions.h"
#include "syntax/parse_foreign.h"
#include "syntax/parse_lists.h"
#include "syntax/parse_statements.h"
#include "syntax/parse_templates.h"
#include "syntax/parse_types.h"

namespace tenon::syntax {
namespace {

/// `agent`, `type`, `impl`, `test` and `trust` are names anywhere else.
bool at_contextual_item(const Parser& p) {
  if (!p.at(TokenKind::Identifier) || p.token(1).after_newline) return false;
  if (p.peek(1) == TokenKind::StringStart) return p.at_word("test");
  const bool is_word = p.at_word("type") || p.at_word("impl") || p.at_word("agent") || p.at_word("trust");
  if (p.peek(1) != TokenKind::Identifier || !is_word) return false;
  return !at_expression_tail(p, 1) && !(p.at_word("budget", 1) && p.peek(2) == TokenKind::LeftParenthesis);
}

/// Skips to the next item: at the start of a line, or after a word that the language does not have, as in `pub fn f()`.
/// An unmatched closing brace is skipped too.
void skip_to_item(Parser& p) {
  const Mark mark = p.open();
  std::size_t depth = 0;
  do {
    if (p.at(TokenKind::LeftBrace)) ++depth;
    if (p.at(TokenKind::RightBrace) && depth > 0) --depth;
    p.advance();
  } while (!p.at(TokenKind::End) && !(at_item_start(p) && (depth == 0 || at_declaration(p))) &&
           !(p.after_newline() && depth == 0 && at_foreign_statement(p)));
  p.close(mark, NodeKind::Error);
}

void parse_use(Parser& p) {
  const Mark mark = p.open();
  p.advance();
  const Mark path = p.open();
  p.expect_name("a module name");
  bool has_list = false;
  while (p.accept(TokenKind::ColonColon)) {
    if (p.at(TokenKind::LeftBrace)) {
      has_list = true;
      break;
    }
    p.expect_name("a name");
  }
  p.close(path, NodeKind::Path);
  if (has_list) {
    const Mark list = p.open();
    const Setting lines(p.rules().newlines, false);
    p.advance();
    parse_elements(p, TokenKind::RightBrace, Separator::Comma, "`,` or `}`", [&] {
      const Mark name = p.open();
      const TokenIndex token = p.expect_name("a name");
      p.close_or_error(name, NodeKind::UseName, token);
    });
    p.close(list, NodeKind::UseList);
  }
  p.accept(TokenKind::Semicolon);
  p.close(mark, NodeKind::UseItem);
}

void parse_type_parameters(Parser& p) {
  const Mark mark = p.open();
  const Setting lines(p.rules().newlines, false);
  p.advance();
  parse_elements(p, TokenKind::Greater, Separator::Comma, "`,` or `>`", [&] {
    const Mark parameter = p.open();
    const TokenIndex name = p.expect_name("the name of a type parameter");
    p.close_or_error(parameter, NodeKind::TypeParameter, name);
  });
  p.close(mark, NodeKind::TypeParameters);
}

void parse_parameters(Parser& p) {
  const Mark mark = p.open();
  if (!p.at(TokenKind::LeftParenthesis)) {
    p.report_expected("`(` and the parameters");
    p.close(mark, NodeKind::Parameters);
    return;
  }
  const Setting lines(p.rules().newlines, false);
  p.advance();
  parse_elements(p, TokenKind::RightParenthesis, Separator::Comma, "`,` or `)`", [&] {
    const Mark parameter = p.open();
    accept_secret(p);
    const TokenIndex name = p.expect_name("a parameter such as `name: String`");
    if (!p.has_advanced(parameter)) {
      p.close(parameter, NodeKind::Error);
      return;
    }
    if (p.accept(TokenKind::Colon)) parse_type(p);
    reject_default(p);
    p.close(parameter, NodeKind::Parameter, name);
  });
  p.close(mark, NodeKind::Parameters);
}

void parse_return_type(Parser& p) {
  const bool is_colon = p.at(TokenKind::Colon) && p.peek(1) == TokenKind::Identifier;
  if (is_colon) reject_return_colon(p);
  if (!is_colon && !p.at(TokenKind::Arrow)) return;
  const Mark mark = p.open();
  p.advance();
  parse_type(p);
  p.close(mark, NodeKind::ReturnType);
}

void parse_function(Parser& p, Mark mark) {
  p.advance();
  const TokenIndex name = p.expect_name("a function name");
  if (p.at(TokenKind::Less)) parse_type_parameters(p);
  parse_parameters(p);
  parse_return_type(p);
  parse_clauses(p);
  if (p.at(TokenKind::LeftBrace)) {
    parse_block(p);
  } else {
    p.report_expected("a function body `{ … }`");
    p.accept(TokenKind::Semicolon);
  }
  p.close(mark, NodeKind::FunctionItem, name);
}

void parse_extern_options(Parser& p) {
  const Mark mark = p.open();
  const Setting lines(p.rules().newlines, false);
  const Setting units(p.rules().units, true);
  p.advance();
  parse_elements(p, TokenKind::RightParenthesis, Separator::Comma, "`,` or `)`", [&] {
    const Mark option = p.open();
    const TokenIndex name = p.expect_name("`once`, `process` or `within: 5s`");
    if (p.accept(TokenKind::Colon)) parse_expression(p);
    p.close_or_error(option, NodeKind::ExternOption, name);
  });
  p.close(mark, NodeKind::ExternOptions);
}

void parse_extern(Parser& p, Mark mark) {
  p.advance();
  if (p.at(TokenKind::LeftParenthesis)) parse_extern_options(p);
  p.expect(TokenKind::Fn);
  const TokenIndex name = p.expect_name("a function name");
  parse_parameters(p);
  parse_return_type(p);
  parse_contract_clauses(p);
  if (p.at(TokenKind::LeftBrace)) {
    p.report_expected("the end of the declaration (an `extern fn` has no body)");
    parse_block(p);
  }
  p.accept(TokenKind::Semicolon);
  p.close(mark, NodeKind::ExternItem, name);
}

void parse_struct(Parser& p, Mark mark) {
  p.advance();
  const TokenIndex name = p.expect_name("a struct name");
  const Setting lines(p.rules().newlines, true);
  if (p.expect(TokenKind::LeftBrace)) {
    parse_elements(p, TokenKind::RightBrace, Separator::CommaOrLineEnd, "`,` or `}`", [&] {
      const Mark field = p.open();
      accept_secret(p);
      const TokenIndex field_name = p.expect_name("a field such as `name: String`");
      if (p.expect(TokenKind::Colon, "`:` and a type")) parse_type(p);
      p.close_or_error(field, NodeKind::FieldItem, field_name);
    });
  }
  p.close(mark, NodeKind::StructItem, name);
}

void parse_enum(Parser& p, Mark mark) {
  p.advance();
  const TokenIndex name = p.expect_name("an enum name");
  const Setting lines(p.rules().newlines, true);
  if (p.expect(TokenKind::LeftBrace)) {
    parse_elements(p, TokenKind::RightBrace, Separator::CommaOrLineEnd, "`,` or `}`", [&] {
      const Mark variant = p.open();
      const TokenIndex variant_name = p.expect_name("a case name");
      if (!p.after_newline() && p.accept(TokenKind::LeftParenthesis)) parse_types_until(p, TokenKind::RightParenthesis);
      if (p.position() == variant.token + 1) reject_named_values(p, p.tree().text(variant_name));
      p.close_or_error(variant, NodeKind::VariantItem, variant_name);
    });
  }
  p.close(mark, NodeKind::EnumItem, name);
}

void parse_impl(Parser& p, Mark mark) {
  p.advance();
  const TokenIndex name = p.expect_name("a type name");
  const TokenIndex opening = p.here();
  if (p.expect(TokenKind::LeftBrace)) {
    parse_parts(p, Parts::Methods, "a method `fn …`");
    p.expect_closing(TokenKind::RightBrace, "`}`", opening);
  }
  p.close(mark, NodeKind::ImplItem, name);
}

void parse_type_item(Parser& p, Mark mark) {
  p.advance();
  const TokenIndex name = p.expect_name("a type name");
  if (p.expect(TokenKind::Equal)) parse_type(p);
  p.accept(TokenKind::Semicolon);
  p.close(mark, NodeKind::TypeItem, name);
}

/// `trust person`
void parse_trust(Parser& p, Mark mark) {
  p.advance();
  const TokenIndex source = p.advance();
  p.accept(TokenKind::Semicolon);
  p.close(mark, NodeKind::TrustItem, source);
}

void parse_test(Parser& p, Mark mark) {
  p.enclosing().errors_before_test = p.diagnostics().error_count();
  p.advance();
  parse_string(p);
  if (!p.at(TokenKind::LeftBrace)) {
    p.report_expected("a test body `{ … }`");
    p.close(mark, NodeKind::TestItem);
    return;
  }
  const Mark body = p.open();
  const TokenIndex opening = p.advance();
  while (at_script_section(p) || (p.at_word("person") && p.peek(1) == TokenKind::FatArrow)) parse_script_section(p);
  parse_block_rest(p, body, opening);
  p.close(mark, NodeKind::TestItem);
}

}  // namespace

bool at_item_start(const Parser& p) {
  return is_item_keyword(p.peek()) || at_contextual_item(p);
}

bool at_declaration(const Parser& p) {
  if (!p.after_newline()) return false;
  return (at_item_start(p) || (p.enclosing().in_agent && at_agent_section(p))) &&
         p.column() <= p.enclosing().item_column;
}

bool at_secret(const Parser& p) {
  return p.peek(1) == TokenKind::Identifier && p.peek(2) == TokenKind::Colon && p.at_word("secret");
}

void accept_secret(Parser& p) {
  if (at_secret(p)) p.advance();
}

void parse_item(Parser& p) {
  while (p.accept(TokenKind::Semicolon)) {
  }
  const Mark mark = p.open();
  const Setting item(p.enclosing().item_column, p.column());
  const Setting start(p.enclosing().statement_start, p.token().offset);
  switch (p.peek()) {
    case TokenKind::Use:
      parse_use(p);
      break;
    case TokenKind::Fn:
      parse_function(p, mark);
      break;
    case TokenKind::Extern:
      parse_extern(p, mark);
      break;
    case TokenKind::Struct:
      parse_struct(p, mark);
      break;
    case TokenKind::Enum:
      parse_enum(p, mark);
      break;
    default:
      if (p.at_word("agent") && (p.peek(1) == TokenKind::LeftBrace || at_contextual_item(p))) {
        parse_agent(p, mark);
        break;
      }
      if (!at_contextual_item(p)) break;
      if (p.at_word("impl")) {
        parse_impl(p, mark);
      } else if (p.at_word("type")) {
        parse_type_item(p, mark);
      } else if (p.at_word("trust")) {
        parse_trust(p, mark);
      } else {
        parse_test(p, mark);
      }
  }
}

bool at_script_section(const Parser& p) {
  const bool is_named = p.at_word("model") || p.at(TokenKind::Extern) || p.at_word("person");
  return is_named && p.peek(1) == TokenKind::LeftBrace;
}

namespace {

/// `when "text" and "text"`
void parse_script_condition(Parser& p) {
  const Mark mark = p.open();
  const TokenIndex word = p.here();
  do {
    p.advance();
    if (!p.at(TokenKind::StringStart)) {
      p.report_expected("a text that the prompt contains");
      break;
    }
    parse_string(p);
  } while (p.at_word("and"));
  p.close(mark, NodeKind::ScriptCondition, word);
}

}  // namespace

void parse_script_section(Parser& p) {
  const Mark mark = p.open();
  const TokenIndex name = p.advance();
  if (p.at(TokenKind::FatArrow)) {
    const Mark entry = p.open();
    const TokenIndex arrow = p.advance();
    parse_expression(p);
    p.close_or_error(entry, NodeKind::ScriptEntry, arrow);
    const bool is_over = p.at(TokenKind::RightBrace) || p.at_end() || p.after_newline();
    if (!is_over && !p.follows_from_other_error()) p.report_expected("the end of the line");
    p.close(mark, NodeKind::ScriptSection, name);
    return;
  }
  const Setting lines(p.rules().newlines, true);
  p.advance();
  parse_elements(p, TokenKind::RightBrace, Separator::CommaOrLineEnd, "`,` or `}`", [&] {
    const Mark entry = p.open();
    const TokenIndex callee = p.here();
    if (!p.accept(TokenKind::Select) && !p.accept(TokenKind::Underscore)) {
      p.expect_name("an entry such as `function => answer`");
      while (p.accept(TokenKind::ColonColon)) p.expect_name("a method name such as `Type::method`");
      if (p.at(TokenKind::LeftParenthesis)) parse_arguments(p);
    }
    if (p.at_word("when")) parse_script_condition(p);
    if (p.expect(TokenKind::FatArrow)) parse_expression(p);
    p.close_or_error(entry, NodeKind::ScriptEntry, callee);
  });
  p.close(mark, NodeKind::ScriptSection, name);
}

NodeId parse_file(Parser& p) {
  const Mark mark = p.open();
  while (!p.at(TokenKind::End)) {
    const std::size_t before = p.position();
    parse_item(p);
    if (p.position() == before) {
      if (auto* report = p.report_unexpected("an item such as `fn` or `struct`"))
        hint_foreign_word(*report, p.text_here(), p.span_here());
      skip_to_item(p);
    }
  }
  return p.close(mark, NodeKind::File);
}

}  // namespace tenon::syntax
