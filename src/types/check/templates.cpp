// What stands between `{{` and `}}`: values, and sections that are written again and again or not at all.

#include <utility>

#include "diagnostics/kinds.h"
#include "types/check/checker.h"

namespace tenon::types {

/// The pieces of a string, or of a section's body.
void Checker::check_template_pieces(NodeId owner) {
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

void Checker::check_template_value(NodeId node) {
  const bool is_end = tree().kind(node) == NodeKind::NameExpression && tree().text(node) == "end";
  if (is_end && !find_local("end")) {
    record(node, TypeTable::error);
    diagnostics_.report(diagnostics::UnknownName, tree().span(node), "end")
        .hint("no `{{ for … }}` or `{{ if … }}` is open here");
    return;
  }
  const TypeId type = check_expression(node, Wanted::any());
  if (type == TypeTable::unit) diagnostics_.report(diagnostics::ValueExpected, tree().span(node));
  refuse_secret(type, node, "inserted into a text");
  refuse_tools(type, node, "inserted into a text");
}

/// A head that the parser has told of is followed by its body alone, in which the head's names would be missed.
void Checker::check_template_for(NodeId node) {
  const NodeId pattern = tree().first(node);
  const NodeId items = pattern.exists() ? tree().next(pattern) : NodeId{};
  const NodeId body = tree().find_child(node, NodeKind::TemplateBody);
  if (!items.exists() || !syntax::is_pattern(tree().kind(pattern)) || items == body) return;
  const TypeId item = item_type(items, check_items(items));
  const Scope scope(*this);
  check_pattern(pattern, item);
  // A text has no half-written pass: `break` and `continue` find no loop here.
  const std::size_t loops = std::exchange(depth_.loops, 0);
  if (body.exists()) check_template_pieces(body);
  depth_.loops = loops;
}

void Checker::check_template_if(NodeId node) {
  const NodeId condition = tree().first(node);
  const NodeId body = condition.exists() ? tree().next(condition) : NodeId{};
  if (!body.exists() || tree().kind(body) != NodeKind::TemplateBody) return;
  {
    const Scope scope(*this);
    check_condition(condition);
    check_template_pieces(body);
  }
  const NodeId otherwise = tree().next(body);
  if (!otherwise.exists()) return;
  if (tree().kind(otherwise) == NodeKind::TemplateIf) return check_template_if(otherwise);
  check_template_pieces(otherwise);
}

}  // namespace tenon::types
