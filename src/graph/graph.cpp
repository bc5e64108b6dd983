#include "graph/graph.h"

#include <algorithm>
#include <array>

#include "graph/patches.h"

namespace tenon::graph {
namespace {

using syntax::NodeId;
using syntax::NodeKind;
using syntax::SyntaxTree;

constexpr std::array<std::string_view, 6> edge_kind_names = {"next", "when", "to", "case", "else", "called"};

class Reader {
 public:
  explicit Reader(const SyntaxTree& tree) : tree_(tree) {}

  [[nodiscard]] Agent agent(NodeId node) const {
    Agent agent;
    agent.node = node;
    agent.name = tree_.main_text(node);
    agent.documentation = tree_.documentation(node);
    agent.sequences.push_back(sequence(node, "", ""));
    for (NodeId part = tree_.first(node); part.exists(); part = tree_.next(part)) {
      switch (tree_.kind(part)) {
        case NodeKind::StateSection:
          add_fields(part, agent.state);
          break;
        case NodeKind::ScratchpadSection:
          add_fields(part, agent.scratchpad);
          break;
        case NodeKind::InstructionsSection:
          if (agent.instructions.empty()) agent.instructions = inside_of(tree_, part);
          break;
        case NodeKind::FunctionItem:
          agent.functions.push_back(declaration(part));
          break;
        case NodeKind::StartSection:
          if (!agent.start) agent.start = name(part);
          break;
        case NodeKind::NextTurnSection:
          if (!agent.next_turn) agent.next_turn = name(part);
          break;
        case NodeKind::TurnSection: {
          const std::string word(tree_.main_text(part));
          if (agent.find_sequence(word) == nullptr) agent.sequences.push_back(sequence(part, word, word));
          break;
        }
        default:
          break;
      }
    }
    // In the order in which they run, which need not be that of the text.
    std::stable_sort(agent.sequences.begin() + 1, agent.sequences.end(),
                     [](const Sequence& left, const Sequence& right) { return left.name > right.name; });
    return agent;
  }

  [[nodiscard]] Declaration declaration(NodeId node) const {
    Declaration found;
    found.node = node;
    found.kind = declaration_kind(tree_.kind(node));
    found.name = tree_.kind(node) == NodeKind::TestItem || tree_.kind(node) == NodeKind::UseItem
                     ? text(tree_.first(node))
                     : name(node);
    found.documentation = tree_.documentation(node);
    if (tree_.kind(node) != NodeKind::AgentItem) found.text = text(node);
    return found;
  }

 private:
  /// The name of a part. In damaged text its main token can belong to another node.
  [[nodiscard]] std::string name(NodeId part) const {
    const syntax::Node& node = tree_[part];
    const bool is_there = node.main_token > node.first_token && node.main_token < node.end_token &&
                          tree_.tokens[node.main_token].kind == syntax::TokenKind::Identifier;
    return is_there ? std::string(tree_.main_text(part)) : std::string();
  }
  [[nodiscard]] std::string text(NodeId node) const { return node.exists() ? std::string(tree_.text(node)) : ""; }

  /// Lines without the common indentation.
  [[nodiscard]] std::string unindented(NodeId body) const {
    const std::string_view lines = tree_.text(body);
    if (lines.find('\n') == std::string_view::npos) return std::string(lines);
    const std::string_view before = tree_.file().text().substr(0, tree_.span(body).offset);
    const std::string_view line = before.substr(before.rfind('\n') + 1);
    return unindented_lines(lines, line.substr(0, line.find_first_not_of(" \t")));
  }

  void add_fields(NodeId section, std::vector<Setting>& fields) const {
    for (const NodeId field : tree_.children(section, NodeKind::StateField)) {
      const NodeId type = tree_.first(field);
      fields.push_back({std::string(tree_.main_text(field)), text(type), type.exists() ? text(tree_.next(type)) : "",
                        tree_.documentation(field)});
    }
  }

  [[nodiscard]] Sequence sequence(NodeId owner, std::string path, std::string name) const {
    Sequence found{owner, std::move(path), std::move(name), {}};
    for (const NodeId node : tree_.children(owner, NodeKind::BlockItem)) {
      found.blocks.push_back(block(node, found.path.empty() ? "" : found.path + '/'));
    }
    return found;
  }

  [[nodiscard]] Block block(NodeId node, const std::string& outer) const {
    Block block;
    block.node = node;
    block.name = name(node);
    block.path = outer + block.name;
    block.documentation = tree_.documentation(node);
    if (const auto kind = tree_.find_block_kind(node)) block.kind = tree_.text(*kind);
    for (NodeId part = tree_.first(node); part.exists(); part = tree_.next(part)) add_part(block, part);
    return block;
  }

  void add_part(Block& block, NodeId part) const {
    const NodeId first = tree_.first(part);
    const auto add_edge = [&](EdgeKind kind, std::string label) {
      block.edges.push_back({kind, std::move(label), "", name(part), part});
    };
    switch (tree_.kind(part)) {
      case NodeKind::Block:
        block.statements = unindented(part);
        break;
      case NodeKind::BlockOption:
        block.options.push_back({std::string(tree_.main_text(part)), "", text(first)});
        break;
      case NodeKind::ItemClause:
        block.item = Item{name(part), text(first), first.exists() ? text(tree_.next(first)) : ""};
        break;
      case NodeKind::NextClause:
        return add_edge(EdgeKind::Next, "");
      case NodeKind::ElseClause:
        return add_edge(EdgeKind::Else, "");
      case NodeKind::WhenClause:
        return add_edge(EdgeKind::When, text(first));
      case NodeKind::ToClause:
        return add_edge(EdgeKind::To, text(first));
      case NodeKind::CalledClause:
        return add_edge(EdgeKind::Called, std::string(tree_.text(tree_.next_significant(tree_[part].first_token))));
      case NodeKind::OnClause:
        for (const NodeId arm : tree_.children(part, NodeKind::OnArm)) {
          const NodeId pattern = tree_.first(arm);
          block.edges.push_back(
              {EdgeKind::Case, pattern.exists() ? text(pattern) : "else", text(first), name(arm), arm});
        }
        break;
      case NodeKind::BlockItem:
        if (block.nested.empty()) block.nested.push_back(sequence(block.node, block.path, ""));
        break;
      case NodeKind::BranchItem: {
        const std::string branch = name(part);
        block.nested.push_back(sequence(part, block.path + '/' + branch, branch));
        break;
      }
      default:
        break;
    }
  }

  const SyntaxTree& tree_;
};

const Sequence* find_in(const std::vector<Sequence>& sequences, std::string_view path) {
  for (const Sequence& sequence : sequences) {
    if (sequence.path == path) return &sequence;
    for (const Block& block : sequence.blocks) {
      if (!path.starts_with(block.path)) continue;
      if (const Sequence* found = find_in(block.nested, path)) return found;
    }
  }
  return nullptr;
}

}  // namespace

std::string_view name_of(EdgeKind kind) {
  return edge_kind_names[static_cast<std::size_t>(kind)];
}

std::optional<EdgeKind> find_edge_kind(std::string_view name) {
  const auto* const found = std::find(edge_kind_names.begin(), edge_kind_names.end(), name);
  if (found == edge_kind_names.end()) return std::nullopt;
  return static_cast<EdgeKind>(found - edge_kind_names.begin());
}

const Block* Sequence::find(std::string_view block) const {
  const auto found = std::find_if(blocks.begin(), blocks.end(), [&](const Block& at) { return at.name == block; });
  return found == blocks.end() ? nullptr : &*found;
}

std::string_view Agent::first_block() const {
  if (start) return *start;
  return main().blocks.empty() ? std::string_view() : std::string_view(main().blocks.front().name);
}

const Sequence* Agent::find_sequence(std::string_view path) const {
  return find_in(sequences, path);
}

const Block* Agent::find_block(std::string_view path) const {
  const Sequence* const sequence = find_sequence(sequence_of(path));
  return sequence == nullptr ? nullptr : sequence->find(name_in(path));
}

const Agent* Graph::find(std::string_view agent) const {
  const auto found = std::find_if(agents.begin(), agents.end(), [&](const Agent& at) { return at.name == agent; });
  return found == agents.end() ? nullptr : &*found;
}

Graph make_graph(const SyntaxTree& tree) {
  Graph graph;
  const Reader reader(tree);
  for (NodeId node = tree.first(tree.root); node.exists(); node = tree.next(node)) {
    if (tree.kind(node) == NodeKind::AgentItem) graph.agents.push_back(reader.agent(node));
    if (!declaration_kind(tree.kind(node)).empty()) graph.declarations.push_back(reader.declaration(node));
  }
  return graph;
}

std::string_view declaration_kind(NodeKind kind) {
  switch (kind) {
    case NodeKind::FunctionItem:
      return "fn";
    case NodeKind::ExternItem:
      return "extern";
    case NodeKind::StructItem:
      return "struct";
    case NodeKind::EnumItem:
      return "enum";
    case NodeKind::ImplItem:
      return "impl";
    case NodeKind::TypeItem:
      return "type";
    case NodeKind::TestItem:
      return "test";
    case NodeKind::AgentItem:
      return "agent";
    case NodeKind::UseItem:
      return "use";
    case NodeKind::TrustItem:
      return "trust";
    default:
      return {};
  }
}

std::string_view sequence_of(std::string_view block_path) {
  const std::size_t slash = block_path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : block_path.substr(0, slash);
}

std::string_view name_in(std::string_view block_path) {
  const std::size_t slash = block_path.rfind('/');
  return slash == std::string_view::npos ? block_path : block_path.substr(slash + 1);
}

}  // namespace tenon::graph
