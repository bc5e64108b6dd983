// Edits of a block's parts: options, statements, edges.

#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.h"
#include "graph/edit_step.h"

namespace tenon::graph {
namespace {

using syntax::NodeId;
using syntax::NodeKind;
using syntax::SyntaxTree;
using syntax::TokenIndex;
using syntax::TokenKind;

/// The last part of a block after which a new one of a kind is inserted: options come before edges, `else` and `->` at
/// the end. It may be absent.
NodeId anchor_of(const SyntaxTree& tree, NodeId block, NodeKind kind) {
  NodeId anchor;
  for (NodeId part = tree.first(block); part.exists(); part = tree.next(part)) {
    bool before = false;
    switch (tree.kind(part)) {
      case NodeKind::NextClause:
        break;
      case NodeKind::Block:
        before = tree[part].end_token > tree[part].first_token;
        break;
      case NodeKind::BlockOption:
      case NodeKind::ItemClause:
        before = true;
        break;
      case NodeKind::ElseClause:
        before = kind == NodeKind::NextClause;
        break;
      default:
        before = kind != NodeKind::BlockOption;
    }
    if (before) anchor = part;
  }
  return anchor;
}

Change add_part(const SyntaxTree& tree, NodeId block, NodeKind kind, std::string_view text) {
  Patches patches(tree);
  patches.insert_lines(braces_of(tree, block), anchor_of(tree, block, kind), text);
  return patches.take();
}

bool is_edge(const Edge& edge, const EdgeKey& key, const std::optional<std::string>& target) {
  if (edge.kind != key.kind) return false;
  switch (key.kind) {
    case EdgeKind::Next:
    case EdgeKind::Else:
      return true;
    case EdgeKind::To:
      return target && edge.target == *target;
    case EdgeKind::When:
    case EdgeKind::Called:
      return edge.label == trimmed(key.label);
    case EdgeKind::Case:
      return edge.label == trimmed(key.label) && edge.on == trimmed(key.on);
  }
  return false;
}

std::optional<std::string> find_key_problem(const EdgeKey& key, bool needs_label) {
  const bool labelled = key.kind != EdgeKind::Next && key.kind != EdgeKind::Else;
  const std::string_view label = trimmed(key.label);
  if (labelled && needs_label && label.empty()) {
    return fmt::format("an edge of the kind `{}` needs a label", name_of(key.kind));
  }
  if (!labelled && !label.empty()) return fmt::format("an edge of the kind `{}` has no label", name_of(key.kind));
  if (key.kind == EdgeKind::Case && trimmed(key.on).empty()) return "a case needs `on`, the value that it is a case of";
  if (key.kind == EdgeKind::Called && !is_name(label)) return fmt::format("`{}` is not a tool name", label);
  return std::nullopt;
}

Change add_case(const SyntaxTree& tree, const Block& block, const EdgeKey& key, std::string_view target) {
  const std::string arm = fmt::format("{} -> {}", trimmed(key.label), target);
  for (const NodeId clause : tree.children(block.node, NodeKind::OnClause)) {
    const NodeId value = tree.first(clause);
    if (!value.exists() || tree.text(value) != trimmed(key.on)) continue;
    NodeId anchor;
    for (const NodeId other : tree.children(clause, NodeKind::OnArm)) {
      if (tree.first(other).exists() || trimmed(key.label) == "else") anchor = other;
    }
    Patches patches(tree);
    patches.insert_element(braces_of(tree, clause), anchor, arm);
    return patches.take();
  }
  return add_part(tree, block.node, NodeKind::OnClause, fmt::format("on {} {{ {} }}", trimmed(key.on), arm));
}

}  // namespace

const Edge* find_edge(const Block& block, const EdgeKey& key, const std::optional<std::string>& target) {
  const auto found = std::find_if(block.edges.begin(), block.edges.end(),
                                  [&](const Edge& edge) { return is_edge(edge, key, target); });
  return found == block.edges.end() ? nullptr : &*found;
}

Change change(const EditedText& text, const Connect& edit) {
  const auto block = get_block(text, edit.agent, edit.block);
  if (!block) return failure(block.error());
  if (!is_name(edit.target)) return failure(fmt::format("`{}` is not a valid block name", edit.target));
  const bool is_new = find_edge(**block, edit.edge, edit.target) == nullptr;
  if (auto problem = find_key_problem(edit.edge, is_new)) return failure(*problem);
  const SyntaxTree& tree = text.tree;
  const std::string_view label = trimmed(edit.edge.label);
  if (const Edge* const edge = find_edge(**block, edit.edge, edit.target)) {
    Patches patches(tree);
    if (edge->kind != EdgeKind::To) {
      patches.replace(tree.main_span(edge->node), edit.target);
    } else if (!label.empty() && tree.first(edge->node).exists()) {
      patches.replace(tree.span(tree.first(edge->node)), label);
    }
    return patches.take();
  }
  const NodeId node = (*block)->node;
  switch (edit.edge.kind) {
    case EdgeKind::Next:
      return add_part(tree, node, NodeKind::NextClause, "-> " + edit.target);
    case EdgeKind::Else:
      return add_part(tree, node, NodeKind::ElseClause, "else -> " + edit.target);
    case EdgeKind::When:
      return add_part(tree, node, NodeKind::WhenClause, fmt::format("when {} -> {}", label, edit.target));
    case EdgeKind::To:
      return add_part(tree, node, NodeKind::ToClause, fmt::format("to {}: {}", edit.target, label));
    case EdgeKind::Called:
      return add_part(tree, node, NodeKind::CalledClause, fmt::format("called {} -> {}", label, edit.target));
    case EdgeKind::Case:
      return add_case(tree, **block, edit.edge, edit.target);
  }
  return {};
}

Change change(const EditedText& text, const Disconnect& edit) {
  const auto block = get_block(text, edit.agent, edit.block);
  if (!block) return failure(block.error());
  if (edit.edge.kind == EdgeKind::To && !edit.target) return failure(std::string("a `to` is named by its target"));
  const Edge* const edge = find_edge(**block, edit.edge, edit.target);
  const bool same_target = edge != nullptr && (!edit.target || edge->target == *edit.target);
  if (!same_target) {
    return failure(fmt::format("`{}` has no such edge of the kind `{}`", edit.block, name_of(edit.edge.kind)));
  }
  const SyntaxTree& tree = text.tree;
  NodeId node = edge->node;
  if (edge->kind == EdgeKind::Case) {
    for (const NodeId clause : tree.children((*block)->node, NodeKind::OnClause)) {
      const std::vector<NodeId> arms = tree.children(clause, NodeKind::OnArm);
      if (arms.size() == 1 && arms.front() == node) node = clause;  // an `on` is removed with its last case
    }
  }
  Patches patches(tree);
  patches.remove(node);
  return patches.take();
}

Change change(const EditedText& text, const SetOption& edit) {
  const auto block = get_block(text, edit.agent, edit.block);
  if (!block) return failure(block.error());
  if (!is_name(edit.option)) return failure(fmt::format("`{}` is not a valid option name", edit.option));
  const SyntaxTree& tree = text.tree;
  NodeId option;
  for (const NodeId part : tree.children((*block)->node, NodeKind::BlockOption)) {
    if (!option.exists() && tree.main_text(part) == edit.option) option = part;
  }
  Patches patches(tree);
  if (!edit.value) {
    if (!option.exists()) return failure(fmt::format("`{}` has no option `{}`", edit.block, edit.option));
    patches.remove(option);
    return patches.take();
  }
  const std::string_view value = trimmed(*edit.value);
  if (value.empty()) return failure(fmt::format("the option `{}` needs a value", edit.option));
  if (option.exists() && tree.first(option).exists()) {
    patches.replace(tree.span(tree.first(option)), value);
    return patches.take();
  }
  return add_part(tree, (*block)->node, NodeKind::BlockOption, fmt::format("{}: {}", edit.option, value));
}

Change change(const EditedText& text, const SetStatements& edit) {
  const auto block = get_block(text, edit.agent, edit.block);
  if (!block) return failure(block.error());
  const SyntaxTree& tree = text.tree;
  const NodeId body = tree.find_child((*block)->node, NodeKind::Block);
  if (!body.exists())
    return failure(fmt::format("`{}` is of the kind `{}`, which holds no statements", edit.block, (*block)->kind));
  const std::string_view statements = trimmed(edit.statements);
  const bool is_empty = tree[body].end_token <= tree[body].first_token;
  Patches patches(tree);
  if (statements == trimmed((*block)->statements)) return patches.take();
  if (is_empty && !statements.empty()) {
    patches.insert_lines(braces_of(tree, (*block)->node), NodeId{}, statements);
  } else if (!is_empty && statements.empty()) {
    patches.remove(body);
  } else if (!is_empty) {
    patches.replace_lines(body, statements);
  }
  return patches.take();
}

}  // namespace tenon::graph
