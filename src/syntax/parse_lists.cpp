// Lists, and where reading continues after an error.

#include "syntax/parse_lists.h"

#include <algorithm>

#include "syntax/parse_blocks.h"
#include "syntax/parse_items.h"

namespace tenon::syntax {
namespace {

bool is_opening(TokenKind kind) {
  return kind == TokenKind::LeftBrace || kind == TokenKind::LeftParenthesis || kind == TokenKind::LeftBracket ||
         kind == TokenKind::TemplateStart;
}

bool is_closing(TokenKind kind) {
  return kind == TokenKind::RightBrace || kind == TokenKind::RightParenthesis || kind == TokenKind::RightBracket ||
         kind == TokenKind::TemplateEnd;
}

/// Whether the list that is being read has its bracket further on; then what is missing here is a separator.
bool closes_later(const Parser& p, TokenKind close) {
  constexpr std::size_t tokens_max = 512;
  std::size_t depth = 0;
  for (std::size_t ahead = 0; ahead < tokens_max && p.peek(ahead) != TokenKind::End; ++ahead) {
    const TokenKind kind = p.peek(ahead);
    if (depth == 0) {
      if (kind == close) return true;
      if (is_closing(kind) || kind == TokenKind::Let || kind == TokenKind::While || kind == TokenKind::Fn) return false;
      if (kind == TokenKind::Semicolon || kind == TokenKind::Equal) return false;
    }
    if (is_opening(kind)) ++depth;
    if (is_closing(kind)) --depth;
  }
  return false;
}

}  // namespace

bool at_fresh_start(const Parser& p) {
  return p.after_newline() &&
         (p.at(TokenKind::Let) || p.at(TokenKind::While) || at_declaration(p) || at_outer_block_part(p));
}

void skip_to(Parser& p, std::initializer_list<TokenKind> stops) {
  std::size_t depth = 0;
  const Mark mark = p.open();
  while (!p.at(TokenKind::End) && !at_fresh_start(p)) {
    const TokenKind kind = p.peek();
    if (depth == 0) {
      if (std::find(stops.begin(), stops.end(), kind) != stops.end()) break;
      if (p.at_line_end() && p.has_advanced(mark)) break;
      if (is_closing(kind)) break;
    }
    if (is_opening(kind)) ++depth;
    if (is_closing(kind)) --depth;
    p.advance();
  }
  if (p.has_advanced(mark)) p.close(mark, NodeKind::Error);
}

bool recover_in_list(Parser& p, TokenKind close_kind, std::size_t element_start) {
  const Mark mark = p.open();
  std::size_t depth = 0;
  while (!p.at(TokenKind::End) && !at_fresh_start(p)) {
    const TokenKind kind = p.peek();
    if (depth == 0) {
      if (kind == TokenKind::Comma || kind == TokenKind::Semicolon || is_closing(kind)) break;
      if (p.after_newline() && p.position() != element_start) break;
      if (kind == TokenKind::LeftBrace && close_kind == TokenKind::RightParenthesis) break;  // a body
      if (kind == TokenKind::Equal && close_kind == TokenKind::Greater) break;               // the value of a `let`
    }
    if (is_opening(kind)) ++depth;
    if (is_closing(kind)) --depth;
    p.advance();
  }
  if (p.has_advanced(mark)) p.close(mark, NodeKind::Error);
  if (p.at(close_kind) || p.accept(TokenKind::Comma)) return true;
  return p.after_newline() && p.position() != element_start && !at_fresh_start(p) && closes_later(p, close_kind);
}

bool ends_element_at_line(const Parser& p) {
  if (!p.after_newline() && p.last_token().kind != TokenKind::RightBrace) return false;
  return !at_declaration(p) && !at_outer_block_part(p);
}

}  // namespace tenon::syntax
