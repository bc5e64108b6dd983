#include "blocks/model.h"

#include <fmt/format.h>

#include <algorithm>

#include "syntax/builtin_types.h"

namespace tenon::blocks {

using syntax::NodeId;
using syntax::NodeKind;
using syntax::SyntaxTree;

const Block* Sequence::find(std::string_view block) const {
  const auto found = std::find_if(blocks.begin(), blocks.end(), [&](const Block& at) { return at.name == block; });
  return found == blocks.end() ? nullptr : &*found;
}

bool is_block_agent(const SyntaxTree& tree, NodeId agent) {
  for (NodeId child = tree.first(agent); child.exists(); child = tree.next(child)) {
    switch (tree.kind(child)) {
      case NodeKind::BlockItem:
      case NodeKind::ScratchpadSection:
      case NodeKind::StartSection:
      case NodeKind::NextTurnSection:
      case NodeKind::TurnSection:
        return true;
      default:
        break;
    }
  }
  return false;
}

namespace {

Sequence read_sequence(const SyntaxTree& tree, NodeId owner, const std::string& path);

Block read_block(const SyntaxTree& tree, NodeId node, const std::string& outer) {
  Block block;
  block.node = node;
  block.name = tree.main_text(node);
  block.path = outer + block.name;
  if (const auto token = tree.find_block_kind(node)) block.kind = find_kind(tree.text(*token));
  const std::string inner = block.path + "/";
  for (NodeId part = tree.first(node); part.exists(); part = tree.next(part)) {
    switch (tree.kind(part)) {
      case NodeKind::BlockOption:
        block.options.push_back(part);
        break;
      case NodeKind::WhenClause:
      case NodeKind::ToClause:
      case NodeKind::OnClause:
      case NodeKind::ElseClause:
      case NodeKind::CalledClause:
        block.exits.push_back(part);
        break;
      case NodeKind::NextClause:
        if (!block.next.exists()) block.next = part;
        break;
      case NodeKind::ItemClause:
        if (!block.item.exists()) block.item = part;
        break;
      case NodeKind::Block:
        block.statements = part;
        break;
      case NodeKind::BlockItem:
        if (block.nested.empty()) block.nested.push_back(read_sequence(tree, node, inner));
        break;
      case NodeKind::BranchItem: {
        Sequence branch = read_sequence(tree, part, inner + std::string(tree.main_text(part)) + "/");
        branch.name = tree.main_text(part);
        block.nested.push_back(std::move(branch));
        break;
      }
      default:
        break;
    }
  }
  return block;
}

Sequence read_sequence(const SyntaxTree& tree, NodeId owner, const std::string& path) {
  Sequence sequence;
  sequence.node = owner;
  for (const NodeId node : tree.children(owner, NodeKind::BlockItem)) {
    sequence.blocks.push_back(read_block(tree, node, path));
  }
  return sequence;
}

}  // namespace

BlockAgent read_agent(const SyntaxTree& tree, NodeId node) {
  BlockAgent agent;
  agent.node = node;
  agent.name = tree.main_text(node);
  agent.main = read_sequence(tree, node, "");
  agent.state = tree.find_child(node, NodeKind::StateSection);
  agent.scratchpad = tree.find_child(node, NodeKind::ScratchpadSection);
  agent.start = tree.find_child(node, NodeKind::StartSection);
  agent.next_turn = tree.find_child(node, NodeKind::NextTurnSection);
  for (const NodeId section : tree.children(node, NodeKind::TurnSection)) {
    auto& sequence = tree.main_text(section) == "pre_turn" ? agent.pre_turn : agent.post_turn;
    if (!sequence) sequence = read_sequence(tree, section, std::string(tree.main_text(section)) + "/");
  }
  return agent;
}

NodeId find_option(const SyntaxTree& tree, const Block& block, std::string_view name) {
  for (const NodeId option : block.options) {
    if (tree.main_text(option) == name) return tree.first(option);
  }
  return {};
}

NodeId find_item(const SyntaxTree& tree, std::string_view name) {
  using enum NodeKind;
  for (const NodeId item : tree.children(tree.root)) {
    const NodeKind kind = tree.kind(item);
    const bool declares = kind == AgentItem || kind == StructItem || kind == EnumItem || kind == TypeItem ||
                          kind == FunctionItem || kind == ExternItem;
    if (declares && tree.main_text(item) == name) return item;
  }
  return {};
}

bool has_usable_form(const SyntaxTree& tree, NodeId value, std::string_view option) {
  if (option == "agent") {
    if (tree.kind(value) != NodeKind::NameExpression) return false;
    const auto path = tree.path(value);
    const NodeId item = path.empty() ? NodeId{} : find_item(tree, tree.text(path.front()));
    if (!item.exists()) return path.empty() || !syntax::is_builtin_type(tree.text(path.front()));
    return tree.kind(item) == NodeKind::AgentItem && path.size() == 1;
  }
  if (option == "into") return find_field_name(tree, value).has_value();
  if (option == "call")
    return tree.kind(value) == NodeKind::CallExpression || tree.kind(value) == NodeKind::MethodCallExpression;
  return true;
}

bool has_hole(const SyntaxTree& tree, NodeId node) {
  if (tree.kind(node) == NodeKind::HoleExpression) return true;
  for (NodeId child = tree.first(node); child.exists(); child = tree.next(child)) {
    if (has_hole(tree, child)) return true;
  }
  return false;
}

std::vector<Exit> exits(const SyntaxTree& tree, const Block& block) {
  std::vector<Exit> found;
  const auto add = [&](NodeId clause) { found.push_back({clause, std::string(tree.main_text(clause))}); };
  for (const NodeId clause : block.exits) {
    if (tree.kind(clause) != NodeKind::OnClause) {
      add(clause);
      continue;
    }
    for (const NodeId arm : tree.children(clause, NodeKind::OnArm)) add(arm);
  }
  if (block.next.exists()) add(block.next);
  return found;
}

bool is_restartable(const SyntaxTree& tree, const Block& block) {
  if (const NodeId option = find_option(tree, block, "restartable"); option.exists())
    return tree.text(option) == "true";
  return block.kind != nullptr && block.kind->is_restartable;
}

bool is_handoff(const SyntaxTree& tree, const Block& block) {
  const NodeId handoff = find_option(tree, block, "handoff");
  return block.kind != nullptr && block.kind->kind == Kind::Delegate && handoff.exists() &&
         tree.text(handoff) == "true";
}

bool is_around_turn(const Block& block) {
  return block.path.starts_with("pre_turn/") || block.path.starts_with("post_turn/");
}

bool is_nested(const Block& block) {
  return std::count(block.path.begin(), block.path.end(), '/') > (is_around_turn(block) ? 1 : 0);
}

std::optional<FieldName> find_field_name(const SyntaxTree& tree, NodeId place) {
  bool is_whole = true;
  while (place.exists()) {
    const NodeKind kind = tree.kind(place);
    if (kind == NodeKind::FieldExpression) {
      const NodeId owner = tree.first(place);
      if (owner.exists() && tree.kind(owner) == NodeKind::NameExpression) {
        const std::string_view name = tree.text(owner);
        if (name == "state" || name == "scratchpad") return FieldName{name, tree.main_text(place), is_whole};
      }
    } else if (kind != NodeKind::IndexExpression && kind != NodeKind::MethodCallExpression &&
               kind != NodeKind::ParenthesizedExpression) {
      return std::nullopt;
    }
    is_whole = false;
    place = tree.first(place);
  }
  return std::nullopt;
}

NodeId find_field(const SyntaxTree& tree, const BlockAgent& agent, const FieldName& named) {
  const NodeId section = named.owner == "state" ? agent.state : agent.scratchpad;
  if (!section.exists()) return {};
  for (const NodeId field : tree.children(section, NodeKind::StateField)) {
    if (tree.main_text(field) == named.name) return field;
  }
  return {};
}

NodeId without_option(const SyntaxTree& tree, NodeId type) {
  const bool is_option = tree.kind(type) == NodeKind::OptionalType ||
                         (tree.kind(type) == NodeKind::NamedType && tree.main_text(type) == "Option");
  return is_option && tree.first(type).exists() ? tree.first(type) : type;
}

std::string state_place(std::string_view owner, std::string_view name) {
  return fmt::format("state.{}{}", owner == "scratchpad" ? "$scratchpad_entry." : "", name);
}

bool is_context_method(std::string_view name) {
  return name == "say" || name == "entries" || name == "inject" || name == "inject_as";
}

std::string virtual_tool_name(const FieldName& named, bool is_write) {
  return fmt::format("{}_{}{}", is_write ? "write" : "read", named.owner == "scratchpad" ? "scratchpad_" : "",
                     named.name);
}

std::optional<syntax::TokenIndex> called_tool(const SyntaxTree& tree, NodeId clause) {
  const syntax::TokenIndex end = tree[clause].end_token;
  for (syntax::TokenIndex at = tree[clause].first_token + 1; at < end; ++at) {
    if (is_trivia(tree.tokens[at].kind)) continue;
    return tree.tokens[at].kind == syntax::TokenKind::Identifier ? std::optional(at) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace tenon::blocks
