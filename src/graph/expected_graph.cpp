#include "graph/expected_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

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
  return left.name == right.name && is_same_text(left.type, right.type) && is_same_text(left.value, right.value) &&
         is_same_text(left.documentation, right.documentation);
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

/// The text with another word in place of one.
void replace_word(std::string& text, std::string_view from, std::string_view to) {
  const auto is_word = [](char byte) { return byte == '_' || std::isalnum(static_cast<unsigned char>(byte)) != 0; };
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
    const std::size_t end = at + from.size();
    const bool is_whole = (at == 0 || !is_word(text[at - 1])) && (end == text.size() || !is_word(text[end]));
    if (is_whole) text.replace(at, from.size(), to);
    at += is_whole ? to.size() : from.size();
  }
}

void replace_words(std::vector<Sequence>& sequences, std::string_view from, std::string_view to) {
  for (Sequence& sequence : sequences) {
    for (Block& block : sequence.blocks) {
      for (Setting& option : block.options) replace_word(option.value, from, to);
      if (block.item) replace_word(block.item->type, from, to);
      if (block.item) replace_word(block.item->list, from, to);
      replace_word(block.statements, from, to);
      for (Edge& edge : block.edges) {
        replace_word(edge.label, from, to);
        replace_word(edge.on, from, to);
      }
      replace_words(block.nested, from, to);
    }
  }
}

void replace_words(std::vector<Declaration>& declarations, std::string_view from, std::string_view to) {
  for (Declaration& one : declarations) {
    replace_word(one.name, from, to);
    replace_word(one.text, from, to);
  }
}

void replace_words(Graph& graph, std::string_view from, std::string_view to) {
  replace_words(graph.declarations, from, to);
  for (Agent& agent : graph.agents) {
    replace_word(agent.name, from, to);
    replace_word(agent.instructions, from, to);
    for (std::vector<Setting>* const fields : {&agent.state, &agent.scratchpad}) {
      for (Setting& field : *fields) {
        replace_word(field.name, from, to);
        replace_word(field.type, from, to);
        replace_word(field.value, from, to);
      }
    }
    replace_words(agent.functions, from, to);
    replace_words(agent.sequences, from, to);
  }
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
  void apply(const AddField& edit) {
    std::vector<Setting>& fields = this->fields(edit.agent, edit.section);
    auto at = fields.end();
    if (edit.after) {
      at = std::ranges::find(fields, *edit.after, &Setting::name);
      if (at != fields.end()) ++at;
    }
    fields.insert(at, edit.field);
  }
  void apply(const SetField& edit) {
    std::vector<Setting>& fields = this->fields(edit.agent, edit.section);
    const auto field = std::ranges::find(fields, edit.field, &Setting::name);
    if (edit.type) field->type = *edit.type;
    if (edit.value) field->value = *edit.value;
  }
  void apply(const RenameField& edit) {
    std::vector<Setting>& fields = this->fields(edit.agent, edit.section);
    std::ranges::find(fields, edit.field, &Setting::name)->name = edit.name;
    renamed_ = {edit.field, edit.name};
  }
  void apply(const RemoveField& edit) {
    std::vector<Setting>& fields = this->fields(edit.agent, edit.section);
    fields.erase(std::ranges::find(fields, edit.field, &Setting::name));
  }
  void apply(const SetInstructions& edit) { agent(edit.agent).instructions = edit.statements; }
  void apply(const SetDocumentation& edit) {
    if (edit.declaration) {
      find_declaration(edit.agent, *edit.declaration)->documentation = edit.text;
    } else if (edit.block) {
      get(*edit.agent, *edit.block).documentation = edit.text;
    } else if (edit.section) {
      std::ranges::find(fields(*edit.agent, *edit.section), edit.field, &Setting::name)->documentation = edit.text;
    } else {
      agent(*edit.agent).documentation = edit.text;
      find_declaration(std::nullopt, *edit.agent)->documentation = edit.text;
    }
    // That of an agent is known twice.
    if (edit.declaration && !edit.agent) {
      for (Agent& agent : graph_.agents) {
        if (agent.name == *edit.declaration) agent.documentation = edit.text;
      }
    }
  }
  void apply(const AddBranch& edit) {
    Block& block = get(edit.agent, edit.block);
    block.nested.push_back({{}, block.path + '/' + edit.branch, edit.branch, {}});
  }
  void apply(const RenameBranch& edit) {
    Block& block = get(edit.agent, edit.block);
    std::ranges::find(block.nested, edit.branch, &Sequence::name)->name = edit.name;
    set_path(block, sequence_of(edit.block));
  }
  void apply(const RemoveBranch& edit) {
    std::vector<Sequence>& nested = get(edit.agent, edit.block).nested;
    nested.erase(std::ranges::find(nested, edit.branch, &Sequence::name));
  }
  void apply(const MoveEdge& edit) { reordered_ = edit.block; }
  void apply(const SetItem& edit) { get(edit.agent, edit.block).item = edit.item; }
  void apply(const AddDeclaration& edit) {
    added_declaration_ = true;
    if (!edit.agent) added_to_file_ = true;
  }
  void apply(const RenameDeclaration& edit) {
    find_declaration(edit.agent, edit.declaration)->name = edit.name;
    if (!edit.agent) {
      for (Agent& agent : graph_.agents) {
        if (agent.name == edit.declaration) agent.name = edit.name;
      }
    }
    renamed_ = {edit.declaration, edit.name};
  }
  void apply(const RemoveDeclaration& edit) {
    std::vector<Declaration>& all = declarations(edit.agent);
    all.erase(find_declaration(edit.agent, edit.declaration));
    if (!edit.agent) std::erase_if(graph_.agents, [&](const Agent& at) { return at.name == edit.declaration; });
  }
  void apply(const Replace& /*edit*/) {}

  [[nodiscard]] std::optional<std::string> find_difference(Graph now) {
    if (auto difference = find_difference(graph_.declarations, now.declarations, added_to_file_)) return difference;
    if (added_to_file_) {
      std::erase_if(now.agents, [&](const Agent& at) { return graph_.find(at.name) == nullptr; });
    }
    if (graph_.agents.size() != now.agents.size()) return "another agent";
    for (std::size_t at = 0; at < now.agents.size(); ++at) {
      if (auto difference = find_difference(graph_.agents[at], now.agents[at])) return difference;
    }
    return std::nullopt;
  }

  /// The uses of a renamed name can be anywhere: both graphs get the new one.
  [[nodiscard]] std::optional<std::string> compare(const Graph& now) {
    if (!renamed_) return find_difference(now);
    Graph changed = now;
    replace_words(changed, renamed_->first, renamed_->second);
    replace_words(graph_, renamed_->first, renamed_->second);
    return find_difference(std::move(changed));
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

  [[nodiscard]] std::vector<Setting>& fields(std::string_view agent_name, Section section) {
    Agent& found = agent(agent_name);
    return section == Section::State ? found.state : found.scratchpad;
  }

  [[nodiscard]] std::vector<Declaration>& declarations(const std::optional<std::string>& agent_name) {
    return agent_name ? agent(*agent_name).functions : graph_.declarations;
  }
  [[nodiscard]] std::vector<Declaration>::iterator find_declaration(const std::optional<std::string>& agent_name,
                                                                    std::string_view name) {
    std::vector<Declaration>& all = declarations(agent_name);
    return std::ranges::find_if(all, [&](const Declaration& one) { return one.name == name && one.kind != "impl"; });
  }

  /// `may_have_more`: one was added, anywhere.
  [[nodiscard]] std::optional<std::string> find_difference(const std::vector<Declaration>& wanted,
                                                           const std::vector<Declaration>& now,
                                                           bool may_have_more) const {
    if (now.size() != wanted.size() + (may_have_more ? 1 : 0)) return "another declaration";
    std::size_t at = 0;
    for (const Declaration& one : now) {
      if (at < wanted.size() && is_same_declaration(wanted[at], one)) {
        ++at;
      } else if (may_have_more) {
        may_have_more = false;
      } else {
        return fmt::format("the declaration `{}`", at < wanted.size() ? wanted[at].name : one.name);
      }
    }
    return std::nullopt;
  }

  /// Tests can name blocks, which may be renamed.
  [[nodiscard]] static bool is_same_declaration(const Declaration& left, const Declaration& right) {
    const bool is_same =
        left.kind == right.kind && left.name == right.name && is_same_text(left.documentation, right.documentation);
    return is_same && (left.kind == "test" || is_same_text(left.text, right.text));
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
    if (!is_same_text(wanted.instructions, now.instructions)) return in_agent("the instructions");
    const bool may_have_more = added_declaration_ && wanted.functions.size() != now.functions.size();
    if (auto difference = find_difference(wanted.functions, now.functions, may_have_more)) return difference;
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
    if (reordered_ == wanted.path) {
      return std::is_permutation(wanted.edges.begin(), wanted.edges.end(), now.edges.begin(), now.edges.end(),
                                 is_same_edge);
    }
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
  std::optional<std::string> reordered_;  ///< a block whose edges change places
  bool added_declaration_ = false;
  bool added_to_file_ = false;
  std::optional<std::pair<std::string, std::string>> renamed_;  ///< from, to
};

}  // namespace

std::optional<std::string> find_unexpected_change(const Graph& before, const Edit& edit, const Graph& now) {
  if (std::holds_alternative<Replace>(edit)) return std::nullopt;
  Expectation expected(before);
  std::visit([&](const auto& single) { expected.apply(single); }, edit);
  return expected.compare(now);
}

}  // namespace tenon::graph
