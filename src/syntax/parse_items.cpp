// Items: what stands at the top of a file, and the lists in their heads.

#include "diagnostics/kinds.h"
#include "syntax/parser.h"

namespace tenon::syntax {

bool Parser::at_item_start() const {
  switch (peek()) {
    case TokenKind::Fn:
    case TokenKind::Extern:
    case TokenKind::Struct:
    case TokenKind::Enum:
    case TokenKind::Use: return true;
    default: break;
  }
  return (at_word("type") && peek(1) == TokenKind::Identifier) || (at_word("impl") && peek(1) == TokenKind::Identifier) ||
         (at_word("test") && peek(1) == TokenKind::StringStart);
}

void Parser::skip_to_item() {
  const Mark mark = open();
  // The first token of a line that begins an item; a closing brace that nobody opened is skipped too.
  do {
    advance();
  } while (!at(TokenKind::End) && !(token().after_newline && at_item_start()));
  close(mark, NodeKind::Error);
}

void Parser::parse_item() {
  const Mark mark = open();
  while (accept(TokenKind::Semicolon)) {
  }
  switch (peek()) {
    case TokenKind::Use: return parse_use();
    case TokenKind::Fn: return parse_function(mark);
    case TokenKind::Extern: return parse_extern(mark);
    case TokenKind::Struct: return parse_struct(mark);
    case TokenKind::Enum: return parse_enum(mark);
    default: break;
  }
  if (!at_item_start()) return;
  if (at_word("impl")) return parse_impl(mark);
  if (at_word("type")) return parse_type_item(mark);
  parse_test(mark);
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
  parse_name("a module's name");
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
    const Setting lines(newlines_matter_, false);
    advance();
    while (!at(TokenKind::RightBrace) && !at(TokenKind::End)) {
      const Mark name = open();
      const TokenIndex token = parse_name("a name");
      if (position_ == name.token) break;
      close(name, NodeKind::UseName, token);
      if (!accept(TokenKind::Comma)) break;
    }
    expect(TokenKind::RightBrace);
    close(list, NodeKind::UseList);
  }
  accept(TokenKind::Semicolon);
  close(mark, NodeKind::UseItem);
}

void Parser::parse_function(Mark mark) {
  advance();
  const TokenIndex name = parse_name("the function's name");
  if (at(TokenKind::Less)) parse_type_parameters();
  parse_parameters();
  parse_return_type();
  if (at_word("budget") && peek(1) == TokenKind::LeftParenthesis) parse_budget_clause();
  if (at(TokenKind::LeftBrace)) {
    parse_block();
  } else {
    report_expected("the function's body, `{ … }`,");
    accept(TokenKind::Semicolon);
  }
  close(mark, NodeKind::FunctionItem, name);
}

void Parser::parse_extern(Mark mark) {
  advance();
  expect(TokenKind::Fn);
  const TokenIndex name = parse_name("the function's name");
  parse_parameters();
  parse_return_type();
  if (at(TokenKind::LeftBrace)) {
    report_expected("the end of the declaration (an `extern fn` has no body)");
    parse_block();
  }
  accept(TokenKind::Semicolon);
  close(mark, NodeKind::ExternItem, name);
}

void Parser::parse_type_parameters() {
  const Mark mark = open();
  const Setting lines(newlines_matter_, false);
  advance();
  while (at(TokenKind::Identifier)) {
    const Mark parameter = open();
    const TokenIndex name = advance();
    close(parameter, NodeKind::TypeParameter, name);
    if (!accept(TokenKind::Comma)) break;
  }
  expect(TokenKind::Greater);
  close(mark, NodeKind::TypeParameters);
}

void Parser::parse_parameters() {
  const Mark mark = open();
  if (!at(TokenKind::LeftParenthesis)) {
    report_expected("`(` and the parameters");
    close(mark, NodeKind::Parameters);
    return;
  }
  const Setting lines(newlines_matter_, false);
  advance();
  while (!at(TokenKind::RightParenthesis) && !at(TokenKind::End)) {
    const Mark parameter = open();
    if (!at(TokenKind::Identifier)) {
      report_expected("a parameter such as `name: String`");
      skip_to({TokenKind::Comma, TokenKind::RightParenthesis, TokenKind::LeftBrace});
      if (position_ == parameter.token && !at(TokenKind::Comma)) break;
    } else {
      const TokenIndex name = advance();
      if (accept(TokenKind::Colon)) parse_type();
      close(parameter, NodeKind::Parameter, name);
    }
    if (!accept(TokenKind::Comma)) break;
  }
  expect(TokenKind::RightParenthesis);
  close(mark, NodeKind::Parameters);
}

void Parser::parse_return_type() {
  if (!at(TokenKind::Arrow)) return;
  const Mark mark = open();
  advance();
  parse_type();
  close(mark, NodeKind::ReturnType);
}

void Parser::parse_budget_clause() {
  const Mark mark = open();
  const Setting lines(newlines_matter_, false);
  advance();
  advance();
  while (at(TokenKind::Identifier)) {
    const Mark argument = open();
    const TokenIndex name = advance();
    if (expect(TokenKind::Colon)) {
      parse_expression();
      // A unit right behind its number, as in `30s`, is part of the argument.
      if (at(TokenKind::Identifier) && position_ > 0) {
        const Token& number = tree_.tokens[index(position_ - 1)];
        if (number.offset + number.length == token().offset) advance();
      }
    }
    close(argument, NodeKind::NamedArgument, name);
    if (!accept(TokenKind::Comma)) break;
  }
  expect(TokenKind::RightParenthesis);
  close(mark, NodeKind::BudgetClause);
}

void Parser::parse_struct(Mark mark) {
  advance();
  const TokenIndex name = parse_name("the struct's name");
  const Setting lines(newlines_matter_, false);
  if (expect(TokenKind::LeftBrace)) {
    while (at(TokenKind::Identifier)) {
      const Mark field = open();
      const TokenIndex field_name = advance();
      if (expect(TokenKind::Colon, "`:` and the field's type")) parse_type();
      close(field, NodeKind::FieldItem, field_name);
      if (accept(TokenKind::Comma) || accept(TokenKind::Semicolon)) continue;
      if (!token().after_newline) break;
    }
    if (!expect(TokenKind::RightBrace, "a field or `}`")) {
      skip_to({TokenKind::RightBrace});
      accept(TokenKind::RightBrace);
    }
  }
  close(mark, NodeKind::StructItem, name);
}

void Parser::parse_enum(Mark mark) {
  advance();
  const TokenIndex name = parse_name("the enum's name");
  const Setting lines(newlines_matter_, false);
  if (expect(TokenKind::LeftBrace)) {
    while (at(TokenKind::Identifier)) {
      const Mark variant = open();
      const TokenIndex variant_name = advance();
      if (accept(TokenKind::LeftParenthesis)) {
        while (!at(TokenKind::RightParenthesis) && !at(TokenKind::End)) {
          const std::size_t before = position_;
          parse_type();
          if (position_ == before || !accept(TokenKind::Comma)) break;
        }
        expect(TokenKind::RightParenthesis);
      }
      close(variant, NodeKind::VariantItem, variant_name);
      if (accept(TokenKind::Comma)) continue;
      if (!token().after_newline) break;
    }
    if (!expect(TokenKind::RightBrace, "a case or `}`")) {
      skip_to({TokenKind::RightBrace});
      accept(TokenKind::RightBrace);
    }
  }
  close(mark, NodeKind::EnumItem, name);
}

void Parser::parse_impl(Mark mark) {
  advance();
  const TokenIndex name = parse_name("the type's name");
  if (expect(TokenKind::LeftBrace)) {
    while (!at(TokenKind::RightBrace) && !at(TokenKind::End)) {
      const Mark function = open();
      if (at(TokenKind::Fn)) {
        parse_function(function);
      } else {
        report_expected("a method, `fn …`,");
        skip_to({TokenKind::Fn, TokenKind::RightBrace});
        if (position_ == function.token) advance();
      }
    }
    expect(TokenKind::RightBrace);
  }
  close(mark, NodeKind::ImplItem, name);
}

void Parser::parse_type_item(Mark mark) {
  advance();
  const TokenIndex name = parse_name("the type's name");
  if (expect(TokenKind::Equal)) parse_type();
  accept(TokenKind::Semicolon);
  close(mark, NodeKind::TypeItem, name);
}

void Parser::parse_test(Mark mark) {
  advance();
  parse_string();
  // The scripts stand first in the test's body; the parser reads the body's own `{` here.
  if (!at(TokenKind::LeftBrace)) {
    report_expected("the test's body, `{ … }`,");
    close(mark, NodeKind::TestItem);
    return;
  }
  const Mark body = open();
  advance();
  while ((at_word("model") || at(TokenKind::Extern)) && peek(1) == TokenKind::LeftBrace) parse_script_section();
  while (!at(TokenKind::RightBrace) && !at(TokenKind::End)) {
    const std::size_t before = position_;
    parse_statement();
    if (position_ == before) advance();
  }
  expect(TokenKind::RightBrace);
  close(body, NodeKind::Block);
  close(mark, NodeKind::TestItem);
}

void Parser::parse_script_section() {
  const Mark mark = open();
  const TokenIndex name = advance();
  const Setting lines(newlines_matter_, false);
  advance();
  while (at(TokenKind::Identifier) || at(TokenKind::Select) || at(TokenKind::Underscore)) {
    const Mark entry = open();
    const TokenIndex callee = advance();
    if (expect(TokenKind::FatArrow)) parse_expression();
    close(entry, NodeKind::ScriptEntry, callee);
    if (accept(TokenKind::Comma)) continue;
    if (!token().after_newline) break;
  }
  expect(TokenKind::RightBrace, "`function => answer` or `}`");
  close(mark, NodeKind::ScriptSection, name);
}

}  // namespace tenon::syntax
