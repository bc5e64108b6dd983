#include "graph/expected_graph.h"

#include <fmt/format.h>

#include <algorithm>

namespace tenon::graph {
namespace {

/// Edits move lines, so white space within a text is ignored.
std::string packed(std::string_view text) {
  std::string out;
  for (const char byte : text) {
    if (byte != ' ' && byte != '\t' && byte != '\n' && byte != '\r') out += byte;
  }
  return out;
}

bool is_same_text(std::string_view left, std::string_view right) {
  return packed(left) == packed(right);
}

template <class Items, class Same>
bool are_same(const Items& left, const Items& right, Same is_same) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(), is_same);
}

bool is_same_setting(const Setting& left, const Setting& right) {
  return left.name == right.name && is_same_text(left.type, right.type) && is_same_text(left.value, right.value);
}

bool is_same_item(const std::optional<Item>& left, const std::optional<Item>& right) {
  if (!left || !right) return left.has_value() == right.has_value();
  return left->name == right->name && is_same_text(left->type, right->type) && is_same_text(left->list, right->list);
}

bool is_same_edge(const Edge& left, const Edge& right) {
  return left.kind == right.kind && left.target == right.target && is_same_text(left.label, right.label) &&
         is_same_text(left.on, right.on);
}

std::vector<Sequence>::iterator find_by_path(std::vector<Sequence>& sequences, std::string_view path) {
  return std::find_if(sequences.begin(), sequences.end(), [&](const Sequence& at) { return at.path == path; });
}

std::vector<Block>::iterator find_by_name(std::vector<Block>& blocks, std::string_view name) {
  return std::find_if(blocks.begin(), blocks.end(), [&](const Block& at) { return at.name == name; });
}

/// Applies an edit to a graph, in which everything that the edit names exists.
class Expectation {
 public:
  explicit Expectation(const Graph& before) : graph_(before) {}

  /// An edge that the edit adds, at any position among the block's edges.
  struct NewEdge {
    std::string block;
    Edge edge;
  };

  void apply(const AddBlock& edit) {
    Block block;
    block.name = edit.name;
    block.kind = edit.kind;
    block.documentation = edit.documentation;
    block.options = edit.options;
    block.item = edit.item;
    block.statements = edit.statements;
    if (edit.next) block.edges.push_back({EdgeKind::Next, "", "", *edit.next, {}});
    insert(agent(edit.agent), edit.place, std::move(block));
  }

  void apply(const Connect& edit) {
    Block& block = get(edit.agent, edit.block);
    for (Edge& edge : block.edges) {
      if (!is_named(edge, edit.edge, edit.target)) continue;
      if (edge.kind != EdgeKind::To) {
        edge.target = edit.target;
      } else if (!packed(edit.edge.label).empty()) {
        edge.label = edit.edge.label;
      }
      return;
    }
    added_ = NewEdge{edit.block, {edit.edge.kind, edit.edge.label, edit.edge.on, edit.target, {}}};
  }

  void apply(const Disconnect& edit) {
    std::vector<Edge>& edges = get(edit.agent, edit.block).edges;
    const auto found = std::find_if(edges.begin(), edges.end(),
                                    [&](const Edge& edge) { return is_named(edge, edit.edge, edit.target); });
    if (found != edges.end()) edges.erase(found);
  }

  void apply(const RenameBlock& edit) {
    Agent& agent = this->agent(edit.agent);
    Sequence& around = *find(agent.sequences, sequence_of(edit.block));
    const std::string old(name_in(edit.block));
    for (Block& other : around.blocks) {
      for (Edge& edge : other.edges) {
        if (edge.target == old) edge.target = edit.name;
      }
    }
    if (around.path.empty() && agent.start == old) agent.start = edit.name;
    Block& block = *find_by_name(around.blocks, old);
    block.name = edit.name;
    set_path(block, around.path);
  }

  void apply(const DeleteBlock& edit) { static_cast<void>(take(agent(edit.agent), edit.block)); }

  void apply(const SetOption& edit) {
    std::vector<Setting>& options = get(edit.agent, edit.block).options;
    const auto found =
        std::find_if(options.begin(), options.end(), [&](const Setting& at) { return at.name == edit.option; });
    if (!edit.value) {
      if (found != options.end()) options.erase(found);
    } else if (found != options.end()) {
      found->value = *edit.value;
    } else {
      options.push_back({edit.option, "", *edit.value});
    }
  }

  void apply(const SetStatements& edit) { get(edit.agent, edit.block).statements = edit.statements; }

  void apply(const MoveBlock& edit) {
    Agent& agent = this->agent(edit.agent);
    Block moved = take(agent, edit.block);
    insert(agent, edit.place, std::move(moved));
  }

  void apply(const SetStart& edit) { agent(edit.agent).start = edit.block; }
  void apply(const SetNextTurn& edit) { agent(edit.agent).next_turn = edit.mode; }
  void apply(const Replace& /*edit*/) {}

  [[nodiscard]] std::optional<std::string> find_difference(const Graph& now) const {
    if (graph_.agents.size() != now.agents.size()) return "another agent";
    for (std::size_t at = 0; at < now.agents.size(); ++at) {
      if (auto difference = find_difference(graph_.agents[at], now.agents[at])) return difference;
    }
    return std::nullopt;
  }

 private:
  static bool is_named(const Edge& edge, const EdgeKey& key, const std::optional<std::string>& target) {
    if (edge.kind != key.kind) return false;
    if (key.kind == EdgeKind::Next || key.kind == EdgeKind::Else) return true;
    if (key.kind == EdgeKind::To) return edge.target == target;
    return is_same_text(edge.label, key.label) && (key.kind != EdgeKind::Case || is_same_text(edge.on, key.on));
  }

  [[nodiscard]] Agent& agent(std::string_view name) {
    return *std::find_if(graph_.agents.begin(), graph_.agents.end(),
                         [&](const Agent& agent) { return agent.name == name; });
  }

  static Sequence* find(std::vector<Sequence>& sequences, std::string_view path) {
    for (Sequence& sequence : sequences) {
      if (sequence.path == path) return &sequence;
      for (Block& block : sequence.blocks) {
        if (Sequence* const found = find(block.nested, path)) return found;
      }
    }
    return nullptr;
  }

  [[nodiscard]] Block& get(std::string_view agent_name, std::string_view path) {
    return *find_by_name(find(agent(agent_name).sequences, sequence_of(path))->blocks, name_in(path));
  }

  static void set_path(Block& block, std::string_view sequence) {
    block.path = sequence.empty() ? block.name : fmt::format("{}/{}", sequence, block.name);
    for (Sequence& nested : block.nested) {
      nested.path = nested.name.empty() ? block.path : block.path + '/' + nested.name;
      for (Block& inner : nested.blocks) set_path(inner, nested.path);
    }
  }

  static Block take(Agent& agent, std::string_view path) {
    const std::string_view outer = sequence_of(path);
    Sequence& around = *find(agent.sequences, outer);
    const auto found = find_by_name(around.blocks, name_in(path));
    Block taken = std::move(*found);
    around.blocks.erase(found);
    // A for_each without blocks has no sequence.
    if (around.blocks.empty() && around.name.empty() && !outer.empty()) {
      std::vector<Sequence>& nested = get_in(agent, outer).nested;
      nested.erase(find_by_path(nested, outer));
    }
    return taken;
  }

  static Block& get_in(Agent& agent, std::string_view path) {
    return *find_by_name(find(agent.sequences, sequence_of(path))->blocks, name_in(path));
  }

  static Sequence& make_sequence(Agent& agent, const std::string& path) {
    if (path == "pre_turn" || path == "post_turn") {
      // In the order in which they run.
      const auto at = path == "pre_turn" ? agent.sequences.begin() + 1 : agent.sequences.end();
      return *agent.sequences.insert(at, Sequence{{}, path, path, {}});
    }
    Sequence* const around = find(agent.sequences, sequence_of(path));
    if (around != nullptr) {
      const auto block = find_by_name(around->blocks, name_in(path));
      if (block != around->blocks.end() && block->kind == "for_each") {
        return block->nested.emplace_back(Sequence{{}, path, "", {}});
      }
    }
    return get_in(agent, sequence_of(path)).nested.emplace_back(Sequence{{}, path, std::string(name_in(path)), {}});
  }

  static void insert(Agent& agent, const Place& place, Block block) {
    Sequence* sequence = find(agent.sequences, place.sequence);
    if (sequence == nullptr) sequence = &make_sequence(agent, place.sequence);
    set_path(block, sequence->path);
    auto at = sequence->blocks.end();
    if (place.after) {
      at = find_by_name(sequence->blocks, *place.after);
      if (at != sequence->blocks.end()) ++at;
    }
    sequence->blocks.insert(at, std::move(block));
  }

  [[nodiscard]] std::optional<std::string> find_difference(const Agent& wanted, const Agent& now) const {
    const auto in_agent = [&](std::string_view what) { return fmt::format("{} of `{}`", what, wanted.name); };
    if (wanted.name != now.name || !is_same_text(wanted.documentation, now.documentation)) return in_agent("the name");
    if (wanted.start != now.start) return in_agent("`start`");
    if (wanted.next_turn != now.next_turn) return in_agent("`next_turn`");
    if (!are_same(wanted.state, now.state, is_same_setting)) return in_agent("the state");
    if (!are_same(wanted.scratchpad, now.scratchpad, is_same_setting)) return in_agent("the scratchpad");
    return find_difference(wanted.sequences, now.sequences, in_agent("the sequences"));
  }

  [[nodiscard]] std::optional<std::string> find_difference(const std::vector<Sequence>& wanted,
                                                           const std::vector<Sequence>& now,
                                                           const std::string& where) const {
    if (wanted.size() != now.size()) return where;
    for (std::size_t at = 0; at < now.size(); ++at) {
      if (wanted[at].path != now[at].path || wanted[at].name != now[at].name) return where;
      const std::vector<Block>& blocks = wanted[at].blocks;
      for (std::size_t block = 0; block < std::min(blocks.size(), now[at].blocks.size()); ++block) {
        if (auto difference = find_difference(blocks[block], now[at].blocks[block])) return difference;
      }
      if (blocks.size() != now[at].blocks.size()) return where;
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<std::string> find_difference(const Block& wanted, const Block& now) const {
    const auto in_block = [&](std::string_view what) { return fmt::format("{} of `{}`", what, wanted.path); };
    if (wanted.path != now.path || wanted.kind != now.kind) return fmt::format("the block `{}`", wanted.path);
    if (!is_same_text(wanted.documentation, now.documentation)) return in_block("the doc comment");
    for (std::size_t at = 0; at < std::min(wanted.options.size(), now.options.size()); ++at) {
      if (!is_same_setting(wanted.options[at], now.options[at])) {
        return in_block(fmt::format("the option `{}`", wanted.options[at].name));
      }
    }
    if (wanted.options.size() != now.options.size()) return in_block("the options");
    if (!is_same_item(wanted.item, now.item)) return in_block("the item");
    if (!is_same_text(wanted.statements, now.statements)) return in_block("the statements");
    if (!has_edges(wanted, now)) return in_block("the edges");
    return find_difference(wanted.nested, now.nested, in_block("the nested blocks"));
  }

  /// The block's edges in their order, with the added one at any position.
  [[nodiscard]] bool has_edges(const Block& wanted, const Block& now) const {
    if (!added_ || added_->block != wanted.path) return are_same(wanted.edges, now.edges, is_same_edge);
    for (std::size_t at = 0; at < now.edges.size(); ++at) {
      if (!is_same_edge(now.edges[at], added_->edge)) continue;
      std::vector<Edge> others = now.edges;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(at));
      if (are_same(wanted.edges, others, is_same_edge)) return true;
    }
    return false;
  }

  Graph graph_;
  std::optional<NewEdge> added_;
};

}  // namespace

std::optional<std::string> find_unexpected_change(const Graph& before, const Edit& edit, const Graph& now) {
  if (std::holds_alternative<Replace>(edit)) return std::nullopt;
  Expectation expected(before);
  std::visit([&](const auto& single) { expected.apply(single); }, edit);
  return expected.find_difference(now);
}

}  // namespace tenon::graph
