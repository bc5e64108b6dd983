#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "syntax/parser.h"

namespace tenon::syntax {

// Lists of elements with separators, and where reading continues after an error.

/// What separates the elements of a list. After an element that ends with `}`, no separator is needed where a line end
/// is sufficient.
enum class Separator : std::uint8_t { Comma, CommaOrLineEnd };

/// Whether a statement or declaration starts on this line that cannot be part of an expression.
[[nodiscard]] bool at_fresh_start(const Parser& p);
/// Skips to the end of the line or one of `stops`, at this level of brackets, into an Error node.
void skip_to(Parser& p, std::initializer_list<TokenKind> stops);
/// Skips to the next element of a damaged list, or to its end. Returns whether the list continues.
bool recover_in_list(Parser& p, TokenKind close, std::size_t element_start);
/// Whether the last element needs no separator, because it ended with its line or with `}`.
[[nodiscard]] bool ends_element_at_line(const Parser& p);

/// The rest of a list, after its bracket: elements, separators and the bracket `close`.
template <class ParseElement>
void parse_elements(Parser& p, TokenKind close, Separator separator, std::string_view wanted,
                    ParseElement parse_element) {
  if (p.is_recovering() && p.after_newline()) p.end_recovery();
  bool has_reported = false;
  while (!p.at(close) && !p.at_end()) {
    const std::size_t start = p.position();
    {
      const Setting outer_start(p.enclosing().statement_start, p.enclosing().statement_start);
      if (p.after_newline()) p.enclosing().statement_start = p.token().offset;
      p.start_element();
      parse_element();
    }
    if (p.at(close)) break;
    if (p.accept(TokenKind::Comma)) continue;
    if (separator == Separator::CommaOrLineEnd && p.position() != start && ends_element_at_line(p)) continue;
    // If a separator is missing once, it is probably missing everywhere.
    if (has_reported) {
      p.mark_reported();
    } else {
      p.report_expected(wanted);
    }
    has_reported = true;
    if (!recover_in_list(p, close, start)) return;
  }
  if (!p.accept(close)) p.report_expected(wanted);
}

}  // namespace tenon::syntax
