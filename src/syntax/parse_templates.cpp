// Strings: text, values between `{{` and `}}`, and sections such as `{{ for x in xs }} … {{ end }}`.

#include <algorithm>
#include <utility>

#include "diagnostics/kinds.h"
#include "syntax/parser.h"

namespace tenon::syntax {

/// What stands between a template's expression and its end. The lexer has told of an end that the text lacks.
void Parser::skip_template() {
  std::size_t end = position_;
  for (std::size_t depth = 0; kinds_[end] != TokenKind::End; ++end) {
    if (kinds_[end] == TokenKind::TemplateStart) ++depth;
    if (kinds_[end] == TokenKind::TemplateEnd && depth-- == 0) break;
  }
  if (tree_.tokens[index(end)].length > 0) report_expected("`}}`");
  const Mark mark = open();
  while (position_ < end) advance();
  if (position_ != mark.token) close(mark, NodeKind::Error);
}

void Parser::end_template() {
  if (!at(TokenKind::TemplateEnd)) skip_template();
  accept(TokenKind::TemplateEnd);
}

void Parser::parse_string() {
  const Mark mark = open();
  const Setting lines(rules_.newlines, true);
  advance();
  parse_string_pieces(false);
  accept(TokenKind::StringEnd);  // its absence has been told by the lexer
  close(mark, NodeKind::StringExpression);
}

/// Up to the string's end or, in a section, to where that goes on with `else` or ends.
void Parser::parse_string_pieces(bool in_section) {
  const bool recovering = recovery_.is_active;
  for (;;) {
    if (accept(TokenKind::StringText)) continue;
    if (!at(TokenKind::TemplateStart)) return;
    // The lexer knows for certain where each template begins: what was told of one is no reason to be silent in the
    // next.
    recovery_.is_active = recovering;
    if (in_section && (at_template_else() || at_template_end())) return;
    if (at_template_else()) {
      parse_stray_else();
    } else {
      parse_template();
    }
  }
}

void Parser::parse_template() {
  const Mark mark = open();
  advance();
  const NodeKind kind = parse_template_inside();
  accept(TokenKind::TemplateEnd);
  if (kind == NodeKind::TemplateHole) {
    close(mark, kind);
  } else {
    parse_section(mark, kind);
  }
}

bool Parser::heads_section(Mark mark, NodeKind kind) {
  if (mark.token != template_start_ || !at(TokenKind::TemplateEnd) || token().length == 0) return false;
  section_head_ = kind;
  return true;
}

/// An expression, or a section's head: leaves its pattern, list or condition as finished nodes.
NodeKind Parser::parse_template_inside() {
  const Setting inside(rules_.newlines, false);
  const Setting literals(rules_.struct_literals, true);
  const Setting units(rules_.units, false);
  const std::size_t around = template_start_;
  const std::size_t start = position_;
  const std::size_t errors = diagnostics_.error_count();
  template_start_ = position_;
  section_head_ = NodeKind::Error;
  parse_element_expression();
  NodeKind kind = std::exchange(section_head_, NodeKind::Error);
  template_start_ = around;
  if (!at(TokenKind::TemplateEnd)) skip_template();
  if (kind != NodeKind::Error) return kind;
  // A damaged head is one all the same, or else its `{{ end }}` would be told of too.
  const bool begins = kinds_[start] == TokenKind::For || kinds_[start] == TokenKind::If;
  const bool has_block = std::find(kinds_.begin() + static_cast<std::ptrdiff_t>(start),
                                   kinds_.begin() + static_cast<std::ptrdiff_t>(position_),
                                   TokenKind::LeftBrace) != kinds_.begin() + static_cast<std::ptrdiff_t>(position_);
  if (!begins || has_block || errors == diagnostics_.error_count()) return NodeKind::TemplateHole;
  return kinds_[start] == TokenKind::For ? NodeKind::TemplateFor : NodeKind::TemplateIf;
}

/// The rest of a section, its head being read. All that hangs together with `{{ else if … }}` has one `{{ end }}`.
void Parser::parse_section(Mark mark, NodeKind kind) {
  const Nesting nesting(*this);
  parse_template_body();
  while (at_template_else() && kind == NodeKind::TemplateFor) {
    parse_stray_else();
    parse_template_body();
  }
  if (at_template_else()) {
    const Mark branch = open();
    advance();
    advance();
    const bool has_condition = at(TokenKind::If);
    if (has_condition) {
      advance();
      const Setting inside(rules_.newlines, false);
      const Setting units(rules_.units, false);
      parse_condition();
    }
    end_template();
    if (has_condition) {
      parse_section(branch, kind);
      close(mark, kind);
      return;
    }
    parse_template_body();
    while (at_template_else()) {
      parse_stray_else();
      parse_template_body();
    }
  }
  if (at_template_end()) {
    advance();
    advance();
    accept(TokenKind::TemplateEnd);
  } else if (!gave_up_ && token().length > 0 && !at(TokenKind::End)) {
    diagnostics_
        .report(diagnostics::UnclosedSection, tree_.span(index(mark.token)),
                kind == NodeKind::TemplateFor ? "for" : "if")
        .hint("add `{{ end }}`, or write a conditional value as `{{ if c { a } else { b } }}`");
  }
  close(mark, kind);
}

void Parser::parse_template_body() {
  const Mark mark = open();
  parse_string_pieces(true);
  close(mark, NodeKind::TemplateBody);
}

/// An `{{ else }}` that no `{{ if … }}` waits for.
void Parser::parse_stray_else() {
  const Mark mark = open();
  advance();
  if (!follows_from_other_error()) {
    diagnostics_.report(diagnostics::StrayElse, tree_.span(index(position_)))
        .hint("use it once, last, between `{{ if … }}` and its `{{ end }}`");
    mark_reported();
  }
  while (!at(TokenKind::TemplateEnd) && !at(TokenKind::End)) {
    if (at(TokenKind::TemplateStart)) break;
    advance();
  }
  end_template();
  close(mark, NodeKind::Error);
}

}  // namespace tenon::syntax
