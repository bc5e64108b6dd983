// Strings: text, values between `{{` and `}}`, and sections such as `{{ for x in xs }} … {{ end }}`.

#include "syntax/parse_templates.h"

#include <utility>
#include <vector>

#include "diagnostics/kinds.h"
#include "syntax/parse_expressions.h"
#include "syntax/parse_statements.h"

namespace tenon::syntax {
namespace {

void parse_string_pieces(Parser& p, bool in_section);

/// Skips what is left between a template's expression and its end. A missing end has been reported by the lexer.
void skip_template(Parser& p) {
  std::size_t end = p.position();
  for (std::size_t depth = 0; p.kind_at(end) != TokenKind::End; ++end) {
    if (p.kind_at(end) == TokenKind::TemplateStart) ++depth;
    if (p.kind_at(end) == TokenKind::TemplateEnd && depth-- == 0) break;
  }
  if (p.tree().tokens[p.index(end)].length > 0) p.report_expected("`}}`");
  const Mark mark = p.open();
  while (p.position() < end) p.advance();
  if (p.has_advanced(mark)) p.close(mark, NodeKind::Error);
}

void end_template(Parser& p) {
  if (!p.at(TokenKind::TemplateEnd)) skip_template(p);
  p.accept(TokenKind::TemplateEnd);
}

/// An expression, or the head of a section, whose pattern, list or condition become finished nodes.
NodeKind parse_template_inside(Parser& p) {
  const Setting inside(p.rules().newlines, false);
  const Setting literals(p.rules().struct_literals, true);
  const Setting units(p.rules().units, false);
  const std::size_t start = p.position();
  const std::size_t errors = p.diagnostics().error_count();
  p.enclosing().section_head = NodeKind::Error;
  {
    const Setting innermost(p.enclosing().template_start, p.position());
    parse_element_expression(p);
  }
  const NodeKind kind = std::exchange(p.enclosing().section_head, NodeKind::Error);
  if (!p.at(TokenKind::TemplateEnd)) skip_template(p);
  if (kind != NodeKind::Error) return kind;
  // A damaged head is still one; otherwise its `{{ end }}` would be reported too.
  const bool begins = p.kind_at(start) == TokenKind::For || p.kind_at(start) == TokenKind::If;
  bool has_block = false;
  for (std::size_t at = start; at < p.position(); ++at) has_block |= p.kind_at(at) == TokenKind::LeftBrace;
  if (!begins || has_block || errors == p.diagnostics().error_count()) return NodeKind::TemplateHole;
  return p.kind_at(start) == TokenKind::For ? NodeKind::TemplateFor : NodeKind::TemplateIf;
}

void parse_template_body(Parser& p) {
  const Mark mark = p.open();
  parse_string_pieces(p, true);
  p.close(mark, NodeKind::TemplateBody);
}

/// An `{{ else }}` without a matching `{{ if … }}`.
void parse_stray_else(Parser& p) {
  const Mark mark = p.open();
  p.advance();
  if (!p.follows_from_other_error()) {
    p.diagnostics()
        .report(diagnostics::StrayElse, p.span_here())
        .hint("use it once, last, between `{{ if … }}` and its `{{ end }}`");
    p.mark_reported();
  }
  while (!p.at(TokenKind::TemplateEnd) && !p.at(TokenKind::End)) {
    if (p.at(TokenKind::TemplateStart)) break;
    p.advance();
  }
  end_template(p);
  p.close(mark, NodeKind::Error);
}

/// `{{ else …`
bool at_template_else(const Parser& p) {
  return p.at(TokenKind::TemplateStart) && p.peek(1) == TokenKind::Else;
}

/// `{{ end }}`, which is not a name inside a section.
bool at_template_end(const Parser& p) {
  return p.at(TokenKind::TemplateStart) && p.at_word("end", 1) && p.peek(2) == TokenKind::TemplateEnd;
}

/// The rest of a section, after its head. A chain of `{{ else if … }}` has a single `{{ end }}`, and is one level,
/// however long it is; each link is part of the one before it.
void parse_section(Parser& p, Mark mark, NodeKind kind) {
  const Nesting nesting(p);
  std::vector<Mark> links{mark};
  for (;;) {
    parse_template_body(p);
    while (at_template_else(p) && kind == NodeKind::TemplateFor) {
      parse_stray_else(p);
      parse_template_body(p);
    }
    if (!at_template_else(p)) break;
    const Mark branch = p.open();
    p.advance();
    p.advance();
    const bool has_condition = p.at(TokenKind::If);
    if (has_condition) {
      p.advance();
      const Setting inside(p.rules().newlines, false);
      const Setting units(p.rules().units, false);
      parse_condition(p);
    }
    end_template(p);
    if (has_condition) {
      links.push_back(branch);
      continue;
    }
    parse_template_body(p);
    while (at_template_else(p)) {
      parse_stray_else(p);
      parse_template_body(p);
    }
    break;
  }
  if (at_template_end(p)) {
    p.advance();
    p.advance();
    p.accept(TokenKind::TemplateEnd);
  } else if (!p.gave_up() && p.token().length > 0 && !p.at(TokenKind::End)) {
    p.diagnostics()
        .report(diagnostics::UnclosedSection, p.tree().span(p.index(links.back().token)),
                kind == NodeKind::TemplateFor ? "for" : "if")
        .hint("add `{{ end }}`, or write a conditional value as `{{ if c { a } else { b } }}`");
  }
  p.close_links(links, kind);
}

void parse_template(Parser& p) {
  const Mark mark = p.open();
  p.advance();
  const NodeKind kind = parse_template_inside(p);
  p.accept(TokenKind::TemplateEnd);
  if (kind == NodeKind::TemplateHole) {
    p.close(mark, kind);
  } else {
    parse_section(p, mark, kind);
  }
}

/// Up to the end of the string or, in a section, up to its `{{ else … }}` or `{{ end }}`.
void parse_string_pieces(Parser& p, bool in_section) {
  const bool recovering = p.is_recovering();
  for (;;) {
    if (p.accept(TokenKind::StringText)) continue;
    if (!p.at(TokenKind::TemplateStart)) return;
    // The lexer knows for certain where each template begins: an error in one does not suppress errors in the next.
    p.set_recovering(recovering);
    if (in_section && (at_template_else(p) || at_template_end(p))) return;
    if (at_template_else(p)) {
      parse_stray_else(p);
    } else {
      parse_template(p);
    }
  }
}

}  // namespace

void parse_string(Parser& p) {
  const Mark mark = p.open();
  const Setting lines(p.rules().newlines, true);
  p.advance();
  parse_string_pieces(p, false);
  p.accept(TokenKind::StringEnd);  // if it is missing, the lexer has reported it
  p.close(mark, NodeKind::StringExpression);
}

bool heads_section(Parser& p, Mark mark, NodeKind kind) {
  if (mark.token != p.enclosing().template_start || !p.at(TokenKind::TemplateEnd) || p.token().length == 0)
    return false;
  p.enclosing().section_head = kind;
  return true;
}

}  // namespace tenon::syntax
