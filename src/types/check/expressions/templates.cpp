// The parts of a template between `{{` and `}}`: values, loops and conditions.

#include "types/check/expressions/templates.h"

#include <utility>

#include "diagnostics/kinds.h"
#include "types/check/body_checker.h"

namespace tenon::types {

/// The pieces of a string, or of a section's body.
void TemplateChecker::check_template_pieces(NodeId owner) {
  for (NodeId piece = tree().first(owner); piece.exists(); piece = tree().next(piece)) {
    if (tree().kind(piece) == NodeKind::TemplateFor) {
      check_template_for(piece);
    } else if (tree().kind(piece) == NodeKind::TemplateIf) {
      check_template_if(piece);
    } else if (const NodeId inner = tree().first(piece); inner.exists()) {
      check_template_value(inner);
    }
  }
}

void TemplateChecker::check_template_value(NodeId node) {
  const bool is_end = tree().kind(node) == NodeKind::NameExpression && tree().text(node) == "end";
  if (is_end && !find_local("end")) {
    record(node, TypeTable::error);
    diagnostics_.report(diagnostics::UnknownName, tree().span(node), "end")
        .hint("this is an `{{ end }}` without `{{ for … }}` or `{{ if … }}`");
    return;
  }
  const TypeId type = check_expression(node, Expectation::any());
  if (type == TypeTable::unit) diagnostics_.report(diagnostics::ValueExpected, tree().span(node));
  checker_.assignability.reject_secret(type, node, "inserted into a text");
  body_.resolver.reject_tools(type, node, "inserted into a text");
}

/// A head with a syntax error has no parts but its body, in which the names of the head would be missing.
void TemplateChecker::check_template_for(NodeId node) {
  const NodeId pattern = tree().first(node);
  const NodeId items = pattern.exists() ? tree().next(pattern) : NodeId{};
  const NodeId body = tree().find_child(node, NodeKind::TemplateBody);
  if (!items.exists() || !syntax::is_pattern(tree().kind(pattern)) || items == body) return;
  const TypeId item = checker_.branches.item_type(items, checker_.expressions.check_items(items));
  const Scope scope(body_);
  checker_.patterns.check_pattern(pattern, item);
  // A text has no half-written pass: `break` and `continue` find no loop here.
  const std::size_t loops = std::exchange(body_.depth.loops, 0);
  if (body.exists()) check_template_pieces(body);
  body_.depth.loops = loops;
}

void TemplateChecker::check_template_if(NodeId node) {
  const NodeId condition = tree().first(node);
  const NodeId body = condition.exists() ? tree().next(condition) : NodeId{};
  if (!body.exists() || tree().kind(body) != NodeKind::TemplateBody) return;
  {
    const Scope scope(body_);
    checker_.statements.check_condition(condition);
    check_template_pieces(body);
  }
  const NodeId otherwise = tree().next(body);
  if (!otherwise.exists()) return;
  if (tree().kind(otherwise) == NodeKind::TemplateIf) return check_template_if(otherwise);
  check_template_pieces(otherwise);
}

}  // namespace tenon::types
