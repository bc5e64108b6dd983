// Items: what stands at the top of a file, and the lists in their heads.

#include <utility>

#include "diagnostics/kinds.h"
#include "syntax/parser.h"

namespace tenon::syntax {

bool Parser::at_item_start() const {
  switch (peek()) {
    case TokenKind::Fn:
    case TokenKind::Extern:
    case TokenKind::Struct:
    case TokenKind::Enum:
    case TokenKind::Use:
      return true;
    default:
      break;
  }
  return at_contextual_item();
}

/// `agent`, `type`, `impl` and `test` are names anywhere else.
bool Parser::at_contextual_item() const {
  if (!at(TokenKind::Identifier) || token(1).after_newline) return false;
  if (peek(1) == TokenKind::StringStart) return at_word("test");
  if (peek(1) != TokenKind::Identifier || !(at_word("type") || at_word("impl") || at_word("agent"))) return false;
  return !at_expression_tail(1) && !(at_word("budget", 1) && peek(2) == TokenKind::LeftParenthesis);
}

/// Skips to the next item: at the beginning of a line, or behind a word that the language does not have, as in `pub fn
/// f()`. A closing brace that nobody opened is skipped too.
void Parser::skip_to_item() {
  const Mark mark = open();
  std::size_t depth = 0;
  do {
    if (at(TokenKind::LeftBrace)) ++depth;
    if (at(TokenKind::RightBrace) && depth > 0) --depth;
    advance();
  } while (!at(TokenKind::End) && !(at_item_start() && (depth == 0 || at_declaration())) &&
           !(after_newline() && depth == 0 && at_foreign_statement()));
  close(mark, NodeKind::Error);
}

void Parser::parse_item() {
  while (accept(TokenKind::Semicolon)) {
  }
  const Mark mark = open();
  const std::size_t outer_column = std::exchange(item_column_, column());
  const std::uint32_t outer_start = std::exchange(recovery_.statement_start, token().offset);
  switch (peek()) {
    case TokenKind::Use:
      parse_use();
      break;
    case TokenKind::Fn:
      parse_function(mark);
      break;
    case TokenKind::Extern:
      parse_extern(mark);
      break;
    case TokenKind::Struct:
      parse_struct(mark);
      break;
    case TokenKind::Enum:
      parse_enum(mark);
      break;
    default:
      if (at_word("agent") && (peek(1) == TokenKind::LeftBrace || at_contextual_item())) {
        parse_agent(mark);
        break;
      }
      if (!at_contextual_item()) break;
      if (at_word("impl")) {
        parse_impl(mark);
      } else if (at_word("type")) {
        parse_type_item(mark);
      } else {
        parse_test(mark);
      }
  }
  item_column_ = outer_column;
  recovery_.statement_start = outer_start;
}

TokenIndex Parser::parse_name(std::string_view wanted) {
  if (at(TokenKind::Identifier)) return advance();
  report_expected(wanted);
  return index(position_);
}

void Parser::parse_use() {
  const Mark mark = open();
  advance();
  const Mark path = open();
  parse_name("a module name");
  bool has_list = false;
  while (accept(TokenKind::ColonColon)) {
    if (at(TokenKind::LeftBrace)) {
      has_list = true;
      break;
    }
    parse_name("a name");
  }
  close(path, NodeKind::Path);
  if (has_list) {
    const Mark list = open();
    const Setting lines(rules_.newlines, false);
    advance();
    parse_elements(TokenKind::RightBrace, Separator::Comma, "`,` or `}`", [&] {
      const Mark name = open();
      const TokenIndex token = parse_name("a name");
      close(name, position_ == name.token ? NodeKind::Error : NodeKind::UseName, token);
    });
    close(list, NodeKind::UseList);
  }
  accept(TokenKind::Semicolon);
  close(mark, NodeKind::UseItem);
}

void Parser::parse_function(Mark mark) {
  advance();
  const TokenIndex name = parse_name("a function name");
  if (at(TokenKind::Less)) parse_type_parameters();
  parse_parameters();
  parse_return_type();
  parse_clauses();
  if (at(TokenKind::LeftBrace)) {
    parse_block();
  } else {
    report_expected("a function body `{ … }`");
    accept(TokenKind::Semicolon);
  }
  close(mark, NodeKind::FunctionItem, name);
}

void Parser::parse_extern(Mark mark) {
  advance();
  if (at(TokenKind::LeftParenthesis)) parse_extern_options();
  expect(TokenKind::Fn);
  const TokenIndex name = parse_name("a function name");
  parse_parameters();
  parse_return_type();
  parse_contract_clauses();
  if (at(TokenKind::LeftBrace)) {
    report_expected("the end of the declaration (an `extern fn` has no body)");
    parse_block();
  }
  accept(TokenKind::Semicolon);
  close(mark, NodeKind::ExternItem, name);
}

void Parser::parse_extern_options() {
  const Mark mark = open();
  const Setting lines(rules_.newlines, false);
  const Setting units(rules_.units, true);
  advance();
  parse_elements(TokenKind::RightParenthesis, Separator::Comma, "`,` or `)`", [&] {
    const Mark option = open();
    const TokenIndex name = parse_name("`once`, `process` or `within: 5s`");
    if (accept(TokenKind::Colon)) parse_expression();
    close(option, position_ == option.token ? NodeKind::Error : NodeKind::ExternOption, name);
  });
  close(mark, NodeKind::ExternOptions);
}

void Parser::parse_type_parameters() {
  const Mark mark = open();
  const Setting lines(rules_.newlines, false);
  advance();
  parse_elements(TokenKind::Greater, Separator::Comma, "`,` or `>`", [&] {
    const Mark parameter = open();
    const TokenIndex name = parse_name("the name of a type parameter");
    close(parameter, position_ == parameter.token ? NodeKind::Error : NodeKind::TypeParameter, name);
  });
  close(mark, NodeKind::TypeParameters);
}

void Parser::parse_parameters() {
  const Mark mark = open();
  if (!at(TokenKind::LeftParenthesis)) {
    report_expected("`(` and the parameters");
    close(mark, NodeKind::Parameters);
    return;
  }
  const Setting lines(rules_.newlines, false);
  advance();
  parse_elements(TokenKind::RightParenthesis, Separator::Comma, "`,` or `)`", [&] {
    const Mark parameter = open();
    accept_secret();
    const TokenIndex name = parse_name("a parameter such as `name: String`");
    if (position_ == parameter.token) {
      close(parameter, NodeKind::Error);
      return;
    }
    if (accept(TokenKind::Colon)) parse_type();
    close(parameter, NodeKind::Parameter, name);
  });
  close(mark, NodeKind::Parameters);
}

void Parser::parse_return_type() {
  if (!at(TokenKind::Arrow)) return;
  const Mark mark = open();
  advance();
  parse_type();
  close(mark, NodeKind::ReturnType);
}

void Parser::parse_clauses() {
  while (true) {
    if (at_budget()) {
      parse_limits_clause(NodeKind::BudgetClause, "a limit such as `calls: 10`");
    } else if (at_strategy()) {
      parse_limits_clause(NodeKind::StrategyClause, "a strategy such as `repair: 2`");
    } else if (at_contract()) {
      parse_contract_clauses();
    } else {
      return;
    }
  }
}

void Parser::parse_contract_clauses() {
  const Setting lines(rules_.newlines, true);
  while (at_contract()) {
    const Mark mark = open();
    advance();
    const Setting limits(rules_.limits, false);
    parse_expression_without_struct_literals();
    if (accept(TokenKind::As)) parse_expression_without_struct_literals();
    close(mark, NodeKind::ContractClause);
  }
}

void Parser::parse_limits_clause(NodeKind kind, std::string_view example) {
  const Mark mark = open();
  const Setting lines(rules_.newlines, false);
  const Setting units(rules_.units, true);
  advance();
  advance();
  parse_elements(TokenKind::RightParenthesis, Separator::Comma, "`,` or `)`", [&] {
    const Mark argument = open();
    const TokenIndex name = parse_name(example);
    if (expect(TokenKind::Colon)) parse_expression();
    close(argument, position_ == argument.token ? NodeKind::Error : NodeKind::NamedArgument, name);
  });
  close(mark, kind);
}

void Parser::parse_struct(Mark mark) {
  advance();
  const TokenIndex name = parse_name("a struct name");
  const Setting lines(rules_.newlines, true);
  if (expect(TokenKind::LeftBrace)) {
    parse_elements(TokenKind::RightBrace, Separator::CommaOrLineEnd, "`,` or `}`", [&] {
      const Mark field = open();
      accept_secret();
      const TokenIndex field_name = parse_name("a field such as `name: String`");
      if (expect(TokenKind::Colon, "`:` and a type")) parse_type();
      close(field, position_ == field.token ? NodeKind::Error : NodeKind::FieldItem, field_name);
    });
  }
  close(mark, NodeKind::StructItem, name);
}

void Parser::parse_enum(Mark mark) {
  advance();
  const TokenIndex name = parse_name("an enum name");
  const Setting lines(rules_.newlines, true);
  if (expect(TokenKind::LeftBrace)) {
    parse_elements(TokenKind::RightBrace, Separator::CommaOrLineEnd, "`,` or `}`", [&] {
      const Mark variant = open();
      const TokenIndex variant_name = parse_name("a case name");
      if (!after_newline() && accept(TokenKind::LeftParenthesis)) parse_types_until(TokenKind::RightParenthesis);
      if (position_ == variant.token + 1) reject_named_values(tree_.text(variant_name));
      close(variant, position_ == variant.token ? NodeKind::Error : NodeKind::VariantItem, variant_name);
    });
  }
  close(mark, NodeKind::EnumItem, name);
}

void Parser::parse_impl(Mark mark) {
  advance();
  const TokenIndex name = parse_name("a type name");
  const TokenIndex opening = index(position_);
  if (expect(TokenKind::LeftBrace)) {
    parse_parts(Parts::Methods, "a method `fn …`");
    expect_closing(TokenKind::RightBrace, "`}`", opening);
  }
  close(mark, NodeKind::ImplItem, name);
}

void Parser::parse_type_item(Mark mark) {
  advance();
  const TokenIndex name = parse_name("a type name");
  if (expect(TokenKind::Equal)) parse_type();
  accept(TokenKind::Semicolon);
  close(mark, NodeKind::TypeItem, name);
}

void Parser::parse_test(Mark mark) {
  recovery_.errors_before_test = diagnostics_.error_count();
  advance();
  parse_string();
  if (!at(TokenKind::LeftBrace)) {
    report_expected("a test body `{ … }`");
    close(mark, NodeKind::TestItem);
    return;
  }
  const Mark body = open();
  const TokenIndex opening = advance();
  while ((at_word("model") || at(TokenKind::Extern)) && peek(1) == TokenKind::LeftBrace) parse_script_section();
  parse_block_rest(body, opening);
  close(mark, NodeKind::TestItem);
}

void Parser::parse_script_section() {
  const Mark mark = open();
  const TokenIndex name = advance();
  const Setting lines(rules_.newlines, true);
  advance();
  parse_elements(TokenKind::RightBrace, Separator::CommaOrLineEnd, "`,` or `}`", [&] {
    const Mark entry = open();
    const TokenIndex callee = index(position_);
    if (!accept(TokenKind::Select) && !accept(TokenKind::Underscore)) {
      parse_name("an entry such as `function => answer`");
      while (accept(TokenKind::ColonColon)) parse_name("a method name such as `Type::method`");
    }
    if (expect(TokenKind::FatArrow)) parse_expression();
    close(entry, position_ == entry.token ? NodeKind::Error : NodeKind::ScriptEntry, callee);
  });
  close(mark, NodeKind::ScriptSection, name);
}

}  // namespace tenon::syntax
