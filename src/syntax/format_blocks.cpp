// Formats the blocks of agents: each part has its own line, and blocks are surrounded by empty lines.

#include "syntax/formatter.h"

namespace tenon::syntax {
namespace {

/// Parts of an agent, in contrast to the options next to nested blocks.
bool is_in_agent(NodeKind kind) {
  switch (kind) {
    case NodeKind::BlockItem:
    case NodeKind::FunctionItem:
    case NodeKind::StateSection:
    case NodeKind::InstructionsSection:
    case NodeKind::ScratchpadSection:
    case NodeKind::StartSection:
    case NodeKind::NextTurnSection:
    case NodeKind::TurnSection:
      return true;
    default:
      return false;
  }
}

}  // namespace

bool Formatter::are_separated(NodeId left, NodeId right) const {
  const bool block = tree_.kind(left) == NodeKind::BlockItem || tree_.kind(right) == NodeKind::BlockItem;
  return block && is_in_agent(tree_.kind(left)) && is_in_agent(tree_.kind(right));
}

/// Tokens and at most one node, separated by spaces: `when state.done -> report`.
void Formatter::words(NodeId id) {
  const NodeId child = tree_.first(id);
  while (within(id)) {
    if (child.exists() && next() == tree_[child].first_token) {
      node(child);
    } else {
      take();
    }
    if (within(id)) space();
  }
}

/// Words and a name, up to `:` or `{`.
void Formatter::head_of_block_part(NodeId id) {
  while (within(id) && !at(TokenKind::Colon) && !at(TokenKind::LeftBrace)) {
    take();
    if (!at(TokenKind::Colon)) space();
  }
}

void Formatter::block_part(NodeId id) {
  const NodeId child = tree_.first(id);
  if (tree_.kind(id) == NodeKind::OnClause) {
    take_word();
    node(child);
    space();
    return brace_list(tree_.next(child), BraceLayout::Author);
  }
  head_of_block_part(id);
  switch (tree_.kind(id)) {
    case NodeKind::ItemClause:
      take_word();
      node(child);
      take_spaced();
      return node(tree_.next(child));
    case NodeKind::BlockOption:
    case NodeKind::ToClause:
      take_word();
      return node(child);
    case NodeKind::BlockItem:
      take_word();
      take_word();
      break;
    default:
      break;
  }
  begin_group();
  const bool holds_statements = child.exists() && tree_.kind(child) == NodeKind::Block;
  if (holds_statements) {
    block_statements(id, child);
  } else {
    block_inside(id, Gap::HardLine);
  }
  end_group();
}

/// The braces belong to the block of the agent, not to its body.
void Formatter::block_statements(NodeId id, NodeId body) {
  const TokenIndex closing = tree_[id].end_token - 1;
  const NodeId after = tree_.next(body);
  take();
  layout().indent();
  const Gap edge = next() == closing ? Gap::Nothing : Gap::HardLine;
  gap(edge);
  const bool has_statements = tree_[body].end_token > tree_[body].first_token;
  statements(tree_.first(body), tree_[body].end_token);
  if (has_statements && after.exists()) separate(Gap::HardLine);
  statements(after, closing);
  close_bracket(edge);
}

}  // namespace tenon::syntax
