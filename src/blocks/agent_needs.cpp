#include "blocks/agent_needs.h"

#include <algorithm>
#include <map>
#include <string_view>

namespace tenon::blocks {

using syntax::NodeId;
using syntax::NodeKind;
using syntax::SyntaxTree;

namespace {

void add_needs(const SyntaxTree& tree, const Sequence& sequence, Needs& needs) {
  for (const Block& block : sequence.blocks) {
    if (block.kind == nullptr) continue;
    needs.edits |= block.kind->kind == Kind::Compress || block.kind->kind == Kind::EditMessage;
    needs.critique |= block.kind->kind == Kind::Reflect;
    needs.tools |= block.kind->kind == Kind::CoreLoop &&
                   (find_option(tree, block, "tools").exists() || find_option(tree, block, "read").exists() ||
                    find_option(tree, block, "write").exists());
    for (const NodeId clause : block.exits) {
      needs.judgement |= is_judged_by_model(tree, clause);
    }
    for (const Sequence& nested : block.nested) add_needs(tree, nested, needs);
  }
}

}  // namespace

Needs find_needs(const SyntaxTree& tree, const BlockAgent& agent) {
  Needs needs;
  add_needs(tree, agent.main, needs);
  if (agent.pre_turn) add_needs(tree, *agent.pre_turn, needs);
  if (agent.post_turn) add_needs(tree, *agent.post_turn, needs);
  return needs;
}

bool is_judged_by_model(const SyntaxTree& tree, NodeId clause) {
  if (tree.kind(clause) != NodeKind::WhenClause || !tree.first(clause).exists()) return false;
  const NodeId condition = tree.first(clause);
  return tree.kind(condition) == NodeKind::StringExpression ||
         tree.text(condition).find("judged") != std::string_view::npos;
}

bool has_handoff_before_post_turn(const SyntaxTree& tree, const BlockAgent& agent) {
  return agent.post_turn && !agent.post_turn->blocks.empty() &&
         std::any_of(agent.main.blocks.begin(), agent.main.blocks.end(),
                     [&](const Block& block) { return is_handoff(tree, block); });
}

bool can_emit(const SyntaxTree& tree, const Block& block) {
  switch (block.kind->kind) {
    case Kind::Set:
    case Kind::Compress:
    case Kind::EditMessage:
    case Kind::Route:
    case Kind::ToolCall:
    case Kind::Call:
    case Kind::Report:
      return false;
    case Kind::Request:
    case Kind::Reflect:
    case Kind::Delegate:
      return !find_option(tree, block, "into").exists();
    case Kind::Code:
    case Kind::CoreLoop:
    case Kind::ForEach:
    case Kind::Parallel:
    case Kind::Emit:
      return true;
  }
  return true;
}

std::set<std::string> find_followers(const SyntaxTree& tree, const BlockAgent& agent, const Sequence& sequence,
                                     Place place) {
  std::map<std::string, std::size_t> incoming;
  std::set<std::string> followers;
  for (const Block& block : sequence.blocks) {
    const std::vector<Exit> all = exits(tree, block);
    for (const Exit& exit : all) ++incoming[exit.target];
    if (block.next.exists() && all.size() == 1 && block.kind != nullptr && block.kind->kind != Kind::CoreLoop)
      followers.insert(all.front().target);
  }
  for (const Block& block : sequence.blocks) {
    const bool is_entry = &block == &sequence.blocks.front() ||
                          (place == Place::Main && agent.start.exists() && tree.main_text(agent.start) == block.name) ||
                          (place == Place::Main && is_restartable(tree, block));
    if (is_entry || incoming[block.name] != 1 || block.kind == nullptr) followers.erase(block.name);
  }
  return followers;
}

}  // namespace tenon::blocks
