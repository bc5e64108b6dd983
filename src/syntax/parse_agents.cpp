// Agents, and the lists of parts that `agent` and `impl` have between their braces.

#include <utility>

#include "syntax/parser.h"

namespace tenon::syntax {

/// `state`, `block` and the others are names anywhere else.
bool Parser::at_agent_section() const {
  if (!at(TokenKind::Identifier) || token(1).after_newline) return false;
  if (peek(1) == TokenKind::LeftBrace) {
    return at_word("state") || at_word("instructions") || at_word("scratchpad") || at_word("pre_turn") ||
           at_word("post_turn");
  }
  return at_block_item() || (peek(1) == TokenKind::Identifier && (at_word("start") || at_word("next_turn")));
}

bool Parser::at_part(Parts parts) const {
  return at(TokenKind::Fn) || (parts == Parts::AgentParts && at_agent_section());
}

void Parser::parse_agent(Mark mark) {
  const Setting inside(in_agent_, true);
  advance();
  const TokenIndex name = parse_name("an agent name");
  constexpr std::string_view wanted = "`state { … }`, `instructions { … }`, `block …` or `fn …`";
  const TokenIndex opening = index(position_);
  if (expect(TokenKind::LeftBrace)) {
    parse_parts(Parts::AgentParts, wanted);
    expect_closing(TokenKind::RightBrace, "`}`", opening);
  } else if (at_part(Parts::AgentParts) && !at_declaration()) {
    parse_parts(Parts::AgentParts, wanted);
    expect(TokenKind::RightBrace);
  }
  close(mark, NodeKind::AgentItem, name);
}

/// Where the first part stands further in than the item, a `fn` that does not is none of its parts: a `}` is missing
/// before it.
void Parser::parse_parts(Parts parts, std::string_view wanted) {
  const Nesting nesting(*this);
  const bool indented = after_newline() && column() > item_column_;
  while (!at(TokenKind::RightBrace) && !at_end()) {
    if (at_declaration() && (!at_part(parts) || (at(TokenKind::Fn) && indented))) break;
    if (at(TokenKind::Fn)) {
      parse_item();
    } else if (parts == Parts::Methods || !parse_agent_section()) {
      report_unexpected(wanted);
      if (at_item_start()) {
        parse_item();
      } else {
        skip_to_part(parts);
      }
    }
  }
}

/// Returns false where no section begins.
bool Parser::parse_agent_section() {
  if (at_word("state")) {
    parse_state_section(NodeKind::StateSection);
  } else if (at_word("instructions")) {
    parse_instructions_section();
  } else if (at_word("block")) {
    parse_block_item();
  } else if (at_word("scratchpad")) {
    parse_state_section(NodeKind::ScratchpadSection);
  } else if (at_word("start")) {
    parse_naming_section(NodeKind::StartSection, "the name of the first block");
  } else if (at_word("next_turn")) {
    parse_naming_section(NodeKind::NextTurnSection, "`restart`, `resume` or `smart`");
  } else if (at_word("pre_turn") || at_word("post_turn")) {
    parse_turn_section();
  } else {
    return false;
  }
  return true;
}

/// Skips what has no place among the parts. A `}` on a line of its own, further in than the item, closes something that
/// was never read as open, and not the item.
void Parser::skip_to_part(Parts parts) {
  const Mark mark = open();
  const std::size_t start_column = column();
  std::size_t depth = 0;
  const auto at_stop = [&] {
    if (at_end() || at_declaration()) return true;
    if (at_part(parts) || (after_newline() && at_item_start()))
      return depth == 0 || (after_newline() && column() <= start_column);
    return depth == 0 && at(TokenKind::RightBrace) && (!after_newline() || column() <= item_column_);
  };
  do {
    if (at(TokenKind::LeftBrace)) ++depth;
    if (at(TokenKind::RightBrace) && depth > 0) --depth;
    advance();
  } while (!at_stop());
  close(mark, NodeKind::Error);
}

void Parser::parse_state_section(NodeKind kind) {
  const Mark mark = open();
  const std::size_t outer_column = std::exchange(item_column_, column());
  const Setting lines(rules_.newlines, true);
  advance();
  const bool opened = expect(TokenKind::LeftBrace);
  if (opened || at_secret() || (at(TokenKind::Identifier) && peek(1) == TokenKind::Colon)) {
    parse_elements(TokenKind::RightBrace, Separator::CommaOrLineEnd, "`,` or `}`", [&] { parse_state_field(); });
  }
  item_column_ = outer_column;
  close(mark, kind);
}

/// A damaged field ends with its line or at a comma, so that the next one is read. The first child always stands for
/// the type, the second for the default.
void Parser::parse_state_field() {
  if (at_declaration()) return;  // the section's `}` is missing
  const Mark field = open();
  if (!at(TokenKind::Identifier)) {
    report_unexpected("a field such as `name: String = \"\"`");
    if (at(TokenKind::Let)) advance();
    close(field, NodeKind::Error);
    skip_to({TokenKind::Comma});
    return;
  }
  accept_secret();
  const TokenIndex name = advance();
  if (expect(TokenKind::Colon, "`:` and a type")) {
    parse_type();
  } else {
    add_empty(NodeKind::Error);
  }
  if (expect(TokenKind::Equal, "`=` and a default value")) {
    const bool at_next_field =
        after_newline() && at(TokenKind::Identifier) && (peek(1) == TokenKind::Colon || at_secret());
    if (at_next_field) {
      report_expected("a default value");
    } else {
      parse_element_expression();
    }
  }
  close(field, NodeKind::StateField, name);
  if (at(TokenKind::Comma) || at(TokenKind::RightBrace) || at_line_end()) return;
  if (tree_.tokens[last_index()].kind == TokenKind::RightBrace) return;
  report_expected("`,` or `}`");
  skip_to({TokenKind::Comma});
}

void Parser::parse_instructions_section() {
  const Mark mark = open();
  const std::size_t outer_column = std::exchange(item_column_, column());
  advance();
  parse_block();
  item_column_ = outer_column;
  close(mark, NodeKind::InstructionsSection);
}

}  // namespace tenon::syntax
