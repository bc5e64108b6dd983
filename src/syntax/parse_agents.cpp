// Agents, and the parts between the braces of `agent` and `impl`.

#include "syntax/parse_agents.h"

#include "syntax/parse_blocks.h"
#include "syntax/parse_expressions.h"
#include "syntax/parse_items.h"
#include "syntax/parse_lists.h"
#include "syntax/parse_statements.h"
#include "syntax/parse_types.h"

namespace tenon::syntax {
namespace {

bool at_part(const Parser& p, Parts parts) {
  return p.at(TokenKind::Fn) || (parts == Parts::AgentParts && at_agent_section(p));
}

/// A damaged field ends with its line or at a comma, so that the next one is read. The first child is always the type,
/// the second the default.
void parse_state_field(Parser& p) {
  if (at_declaration(p)) return;  // the section's `}` is missing
  const Mark field = p.open();
  if (!p.at(TokenKind::Identifier)) {
    p.report_unexpected("a field such as `name: String = \"\"`");
    if (p.at(TokenKind::Let)) p.advance();
    p.close(field, NodeKind::Error);
    skip_to(p, {TokenKind::Comma});
    return;
  }
  accept_secret(p);
  const TokenIndex name = p.advance();
  if (p.expect(TokenKind::Colon, "`:` and a type")) {
    parse_type(p);
  } else {
    p.add_empty(NodeKind::Error);
  }
  if (p.expect(TokenKind::Equal, "`=` and a default value")) {
    const bool at_next_field =
        p.after_newline() && p.at(TokenKind::Identifier) && (p.peek(1) == TokenKind::Colon || at_secret(p));
    if (at_next_field) {
      p.report_expected("a default value");
    } else {
      parse_element_expression(p);
    }
  }
  p.close(field, NodeKind::StateField, name);
  if (p.at(TokenKind::Comma) || p.at(TokenKind::RightBrace) || p.at_line_end()) return;
  if (p.last_token().kind == TokenKind::RightBrace) return;
  p.report_expected("`,` or `}`");
  skip_to(p, {TokenKind::Comma});
}

void parse_state_section(Parser& p, NodeKind kind) {
  const Mark mark = p.open();
  const Setting item(p.enclosing().item_column, p.column());
  const Setting lines(p.rules().newlines, true);
  p.advance();
  const bool opened = p.expect(TokenKind::LeftBrace);
  if (opened || at_secret(p) || (p.at(TokenKind::Identifier) && p.peek(1) == TokenKind::Colon)) {
    parse_elements(p, TokenKind::RightBrace, Separator::CommaOrLineEnd, "`,` or `}`", [&] { parse_state_field(p); });
  }
  p.close(mark, kind);
}

void parse_instructions_section(Parser& p) {
  const Mark mark = p.open();
  const Setting item(p.enclosing().item_column, p.column());
  p.advance();
  parse_block(p);
  p.close(mark, NodeKind::InstructionsSection);
}

/// Returns false if no section starts here.
bool parse_agent_section(Parser& p) {
  if (p.at_word("state")) {
    parse_state_section(p, NodeKind::StateSection);
  } else if (p.at_word("instructions")) {
    parse_instructions_section(p);
  } else if (p.at_word("block")) {
    parse_block_item(p);
  } else if (p.at_word("scratchpad")) {
    parse_state_section(p, NodeKind::ScratchpadSection);
  } else if (p.at_word("start")) {
    parse_naming_section(p, NodeKind::StartSection, "the name of the first block");
  } else if (p.at_word("next_turn")) {
    parse_naming_section(p, NodeKind::NextTurnSection, "`restart`, `resume` or `smart`");
  } else if (p.at_word("pre_turn") || p.at_word("post_turn")) {
    parse_turn_section(p);
  } else {
    return false;
  }
  return true;
}

}  // namespace

bool at_agent_section(const Parser& p) {
  if (!p.at(TokenKind::Identifier) || p.token(1).after_newline) return false;
  if (p.peek(1) == TokenKind::LeftBrace) {
    return p.at_word("state") || p.at_word("instructions") || p.at_word("scratchpad") || p.at_word("pre_turn") ||
           p.at_word("post_turn");
  }
  return at_block_item(p) || (p.peek(1) == TokenKind::Identifier && (p.at_word("start") || p.at_word("next_turn")));
}

void parse_agent(Parser& p, Mark mark) {
  const Setting inside(p.enclosing().in_agent, true);
  p.advance();
  const TokenIndex name = p.expect_name("an agent name");
  constexpr std::string_view wanted = "`state { … }`, `instructions { … }`, `block …` or `fn …`";
  const TokenIndex opening = p.here();
  if (p.expect(TokenKind::LeftBrace)) {
    parse_parts(p, Parts::AgentParts, wanted);
    p.expect_closing(TokenKind::RightBrace, "`}`", opening);
  } else if (at_part(p, Parts::AgentParts) && !at_declaration(p)) {
    parse_parts(p, Parts::AgentParts, wanted);
    p.expect(TokenKind::RightBrace);
  }
  p.close(mark, NodeKind::AgentItem, name);
}

void parse_parts(Parser& p, Parts parts, std::string_view wanted) {
  const Nesting nesting(p);
  const bool indented = p.after_newline() && p.column() > p.enclosing().item_column;
  while (!p.at(TokenKind::RightBrace) && !p.at_end()) {
    if (at_declaration(p) && (!at_part(p, parts) || (p.at(TokenKind::Fn) && indented))) break;
    if (p.at(TokenKind::Fn)) {
      parse_item(p);
    } else if (parts == Parts::Methods || !parse_agent_section(p)) {
      p.report_unexpected(wanted);
      if (at_item_start(p)) {
        parse_item(p);
      } else {
        skip_to_part(p, parts);
      }
    }
  }
}

void skip_to_part(Parser& p, Parts parts) {
  const Mark mark = p.open();
  const std::size_t start_column = p.column();
  std::size_t depth = 0;
  const auto at_stop = [&] {
    if (p.at_end() || at_declaration(p)) return true;
    if (at_part(p, parts) || (p.after_newline() && at_item_start(p)))
      return depth == 0 || (p.after_newline() && p.column() <= start_column);
    return depth == 0 && p.at(TokenKind::RightBrace) && (!p.after_newline() || p.column() <= p.enclosing().item_column);
  };
  do {
    if (p.at(TokenKind::LeftBrace)) ++depth;
    if (p.at(TokenKind::RightBrace) && depth > 0) --depth;
    p.advance();
  } while (!at_stop());
  p.close(mark, NodeKind::Error);
}

}  // namespace tenon::syntax
