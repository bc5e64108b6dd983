// Lists and blocks.

#include "syntax/formatter.h"

namespace tenon::syntax {

Formatter::Formatter(const SyntaxTree& tree) : TokenWriter(tree), tree_(tree) {}

std::string Formatter::run() {
  statements(tree_.first(tree_.root), static_cast<TokenIndex>(tree_.tokens.size() - 1));  // without `End`
  return write();
}

/// Whether elements are separated by commas, and not only by line ends.
bool Formatter::commas_between(NodeId first) const {
  if (!first.exists()) return true;
  for (NodeId left = first, right = tree_.next(first); right.exists(); left = right, right = tree_.next(right)) {
    if (tree_.tokens[significant_from(tree_[left].end_token)].kind != TokenKind::Comma) return false;
  }
  return true;
}

/// Whether an argument can start on the line of its call although it continues on further lines.
bool Formatter::is_huggable(NodeId id) const {
  switch (tree_.kind(id)) {
    case NodeKind::Block:
    case NodeKind::MatchExpression:
    case NodeKind::SelectExpression:
    case NodeKind::ParallelExpression:
    case NodeKind::ShieldExpression:
    case NodeKind::ToolsExpression:
      return true;
    case NodeKind::ClosureExpression: {
      NodeId body = tree_.first(id);
      while (tree_.next(body).exists()) body = tree_.next(body);
      return is_huggable(body);
    }
    case NodeKind::CallExpression:
    case NodeKind::MethodCallExpression: {
      const NodeId arguments = tree_.find_child(id, NodeKind::Arguments);
      const NodeId only = tree_.first(arguments);
      return only.exists() && !tree_.next(only).exists() && is_huggable(only);
    }
    default:
      return false;
  }
}

bool Formatter::elements(NodeId first, Gap between, CommaStyle comma_style) {
  const bool commas = commas_between(first);
  const std::size_t hard_before = layout().hard_count();
  bool huggable = false;
  bool trailing = false;
  std::size_t count = 0;
  bool ends_with_brace = false;
  for (NodeId element = first; at(TokenKind::DotDot) || element.exists(); ++count) {
    comments();
    const bool hard = layout().hard_count() != hard_before || line_ends();
    const bool is_node = element.exists() && next() == tree_[element].first_token;
    if (is_node) {
      node(element);
    } else {
      take();  // the `..` of a pattern
    }
    huggable = is_node && !hard && is_huggable(element);
    ends_with_brace = last() == TokenKind::RightBrace;
    if (is_node) element = tree_.next(element);
    trailing = at(TokenKind::Comma);
    const TokenIndex after = trailing ? significant_from(next() + 1) : next();
    const bool more = element.exists() || tree_.tokens[after].kind == TokenKind::DotDot;
    if (more) {
      if (trailing) take();
      separate(between);
    } else if (trailing) {
      drop_comma();
    }
  }
  const std::size_t hard_after = layout().hard_count();
  const bool kept = (comma_style == CommaStyle::SingleAsWritten && count == 1) || !commas ||
                    (between != Gap::SpaceLine && ends_with_brace);
  if (!kept || trailing) {
    if (line_ends()) flush();
    if (kept) {
      layout().text(",");
    } else {
      layout().text_if_broken(",");
    }
  }
  comments();
  return huggable && layout().hard_count() == hard_after && !line_ends();
}

/// The end of the list whose opening bracket precedes `edge`.
void Formatter::close_bracket(Gap edge) {
  comments();
  layout().dedent();
  gap(edge);
  set_blank(Blank::No);
  take();
}

/// `( … )`, `[ … ]` or `< … >` around the nodes from `first` on.
void Formatter::list(NodeId first, CommaStyle comma_style) {
  begin_group();
  take();
  layout().indent();
  const bool empty = !first.exists();
  bool hugs = false;
  if (!empty) {
    gap(Gap::SoftLine);
    hugs = elements(first, Gap::SpaceLine, comma_style);
  }
  close_bracket(empty ? Gap::Nothing : Gap::SoftLine);
  if (hugs) {
    layout().end_hugging_group(last_braces_);
  } else {
    end_group();
  }
  last_list_hugs_ = hugs;
}

void Formatter::brace_list(NodeId first, BraceLayout braces) {
  const std::size_t group = begin_group();
  const bool expanded = (braces == BraceLayout::Author && author_broke_after_brace(next())) || !commas_between(first);
  const bool empty = !first.exists() && tree_.tokens[significant_from(next() + 1)].kind == TokenKind::RightBrace;
  const Gap edge = empty ? Gap::Nothing : expanded ? Gap::HardLine : Gap::SpaceLine;
  take();
  layout().indent();
  if (!empty) {
    gap(edge);
    static_cast<void>(elements(first, braces == BraceLayout::Fit ? Gap::SpaceLine : edge, CommaStyle::Plain));
  }
  close_bracket(edge);
  end_group();
  last_braces_ = group;
}

bool Formatter::fits_one_line(NodeId id) const {
  const NodeId only = tree_.first(id);
  const Node& node = tree_[id];
  if (!only.exists()) return significant_from(node.first_token + 1) + 1 == node.end_token;
  if (tree_.next(only).exists() || tree_.kind(only) == NodeKind::ScriptSection) return false;
  const bool alone = significant_from(node.first_token + 1) == tree_[only].first_token &&
                     significant_from(tree_[only].end_token) + 1 == node.end_token;
  return alone && !author_broke_after_brace(node.first_token);
}

void Formatter::block(NodeId id) {
  const std::size_t group = begin_group();
  block_inside(id, fits_one_line(id) ? Gap::SpaceLine : Gap::HardLine);
  end_group();
  last_braces_ = group;
}

void Formatter::block_inside(NodeId id, Gap edge) {
  const TokenIndex closing = tree_[id].end_token - 1;
  take();
  layout().indent();
  const bool empty = next() == closing;
  if (!empty) {
    gap(edge);
    statements(tree_.first(id), closing);
  }
  close_bracket(empty ? Gap::Nothing : edge);
}

/// Statements, items or parts of a block from `child` up to the token `end`, with the `;` and `,` that do not belong to
/// any of them.
void Formatter::statements(NodeId child, TokenIndex end) {
  NodeId before;
  while (next() < end) {
    if (child.exists() && tree_[child].first_token <= next()) {
      node(child);
      before = child;
      child = tree_.next(child);
    } else if (at(TokenKind::Comma) && significant_from(next() + 1) == end) {
      drop_comma();
    } else {
      take();
    }
    if (next() >= end || !child.exists() || tree_[child].first_token > next()) continue;
    separate(Gap::HardLine);
    if (before.exists() && are_separated(before, child)) set_blank(Blank::Yes);
  }
}

}  // namespace tenon::syntax
