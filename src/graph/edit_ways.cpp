// Edits of branches, of what a for_each iterates over, and of the order of edges.

#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.h"
#include "graph/edit_step.h"

namespace tenon::graph {
namespace {

using syntax::NodeId;
using syntax::NodeKind;
using syntax::SyntaxTree;

/// The branch of a block, or the reason why there is none.
Result<const Sequence*, std::string> get_branch(const EditedText& text, std::string_view agent, std::string_view path,
                                                std::string_view branch) {
  const auto block = get_block(text, agent, path);
  if (!block) return failure(block.error());
  const auto found = std::ranges::find(text.graph.find(agent)->find_block(path)->nested, branch, &Sequence::name);
  if (branch.empty() || found == (*block)->nested.end()) {
    return failure(fmt::format("`{}` has no branch `{}`", path, branch));
  }
  return &*found;
}

std::optional<std::string> find_name_problem(const Block& block, const std::string& name) {
  if (block.kind != "parallel")
    return fmt::format("`{}` is of the kind `{}`, which has no branches", block.path, block.kind);
  if (!is_name(name)) return fmt::format("`{}` is not a valid branch name", name);
  if (std::ranges::find(block.nested, name, &Sequence::name) == block.nested.end()) return std::nullopt;
  return fmt::format("`{}` already has a branch `{}`", block.path, name);
}

}  // namespace

Change change(const EditedText& text, const AddBranch& edit) {
  const auto block = get_block(text, edit.agent, edit.block);
  if (!block) return failure(block.error());
  if (auto problem = find_name_problem(**block, edit.branch)) return failure(*problem);
  const NodeId node = (*block)->node;
  Patches patches(text.tree);
  patches.insert_lines(braces_of(text.tree, node),
                       last_of(text.tree, node, {NodeKind::BlockOption, NodeKind::BranchItem}),
                       fmt::format("branch {} {{\n}}", edit.branch));
  return patches.take();
}

Change change(const EditedText& text, const RenameBranch& edit) {
  const auto branch = get_branch(text, edit.agent, edit.block, edit.branch);
  if (!branch) return failure(branch.error());
  Patches patches(text.tree);
  if (edit.name == edit.branch) return patches.take();
  if (auto problem = find_name_problem(**get_block(text, edit.agent, edit.block), edit.name)) return failure(*problem);
  patches.replace(text.tree.main_span((*branch)->node), edit.name);
  return patches.take();
}

Change change(const EditedText& text, const RemoveBranch& edit) {
  const auto branch = get_branch(text, edit.agent, edit.block, edit.branch);
  if (!branch) return failure(branch.error());
  Patches patches(text.tree);
  patches.remove_documented((*branch)->node);
  return patches.take();
}

Change change(const EditedText& text, const SetItem& edit) {
  const auto block = get_block(text, edit.agent, edit.block);
  if (!block) return failure(block.error());
  if ((*block)->kind != "for_each") {
    return failure(fmt::format("`{}` is of the kind `{}`, which has no item", edit.block, (*block)->kind));
  }
  if (!is_name(edit.item.name)) return failure(fmt::format("`{}` is not a valid name", edit.item.name));
  const std::string_view type = trimmed(edit.item.type);
  const std::string_view list = trimmed(edit.item.list);
  if (type.empty() || list.empty()) return failure(std::string("an item needs a type and a list"));
  const SyntaxTree& tree = text.tree;
  const NodeId node = (*block)->node;
  const NodeId item = tree.find_child(node, NodeKind::ItemClause);
  const NodeId old_type = item.exists() ? tree.first(item) : NodeId{};
  const NodeId old_list = old_type.exists() ? tree.next(old_type) : NodeId{};
  Patches patches(tree);
  if (!item.exists()) {
    patches.insert_lines(braces_of(tree, node), {}, fmt::format("item {}: {} in {}", edit.item.name, type, list));
  } else if (old_list.exists()) {
    patches.replace(tree.main_span(item), edit.item.name);
    patches.replace(tree.span(old_type), type);
    patches.replace(tree.span(old_list), list);
  }
  return patches.take();
}

Change change(const EditedText& text, const MoveEdge& edit) {
  const auto block = get_block(text, edit.agent, edit.block);
  if (!block) return failure(block.error());
  const Edge* const edge = find_edge(**block, edit.edge, edit.target);
  if (edge == nullptr) {
    return failure(fmt::format("`{}` has no such edge of the kind `{}`", edit.block, name_of(edit.edge.kind)));
  }
  const SyntaxTree& tree = text.tree;
  std::vector<NodeId> ways;
  for (const NodeId part : tree.children((*block)->node)) {
    const NodeKind kind = tree.kind(part);
    if (edge->kind == EdgeKind::Case) {
      const std::vector<NodeId> arms = tree.children(part, NodeKind::OnArm);
      if (std::ranges::find(arms, edge->node) == arms.end()) continue;
      std::ranges::copy_if(arms, std::back_inserter(ways), [&](NodeId arm) { return tree.first(arm).exists(); });
    } else if (kind == NodeKind::WhenClause || kind == NodeKind::ToClause || kind == NodeKind::OnClause ||
               kind == NodeKind::CalledClause) {
      ways.push_back(part);
    }
  }
  const auto found = std::ranges::find(ways, edge->node);
  if (found == ways.end()) {
    return failure(fmt::format("an edge of the kind `{}` is always the last one", name_of(edge->kind)));
  }
  if (edit.position >= ways.size()) {
    return failure(fmt::format("`position` must be less than {}, the number of ways of `{}`", ways.size(), edit.block));
  }
  std::vector<NodeId> order = ways;
  order.erase(order.begin() + (found - ways.begin()));
  order.insert(order.begin() + static_cast<std::ptrdiff_t>(edit.position), edge->node);
  Patches patches(tree);
  for (std::size_t at = 0; at < ways.size(); ++at) {
    if (order[at] != ways[at]) patches.replace(tree.span(ways[at]), tree.text(order[at]));
  }
  return patches.take();
}

}  // namespace tenon::graph
