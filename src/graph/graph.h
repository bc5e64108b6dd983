#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "syntax/tree.h"

namespace tenon::graph {

/// Why one block follows another.
enum class EdgeKind : std::uint8_t {
  Next,    ///< `-> b`
  When,    ///< `when CONDITION -> b`
  To,      ///< `to b: "DESCRIPTION"`: the model chooses
  Case,    ///< `on VALUE { PATTERN -> b }`, also its `else`
  Else,    ///< `else -> b`
  Called,  ///< `called TOOL -> b`
};

/// `next`, `when`, `to`, `case`, `else`, `called`.
[[nodiscard]] std::string_view name_of(EdgeKind kind);
[[nodiscard]] std::optional<EdgeKind> find_edge_kind(std::string_view name);

/// Texts are those of the source, quotes included.
struct Edge {
  EdgeKind kind = EdgeKind::Next;
  std::string label;    ///< the condition, description, pattern (`else` for the rest) or tool; empty for next and else
  std::string on;       ///< of a case: the value
  std::string target;   ///< the name of a block of the same sequence
  syntax::NodeId node;  ///< the clause, or an OnArm
};

/// An option, or a field of `state` or `scratchpad`, which has a type.
struct Setting {
  std::string name;
  std::string type;
  std::string value;
  std::string documentation = {};  ///< of a field
};

/// What a for_each iterates over.
struct Item {
  std::string name;
  std::string type;
  std::string list;
};

struct Sequence;

struct Block {
  syntax::NodeId node;
  std::string path;  ///< with the names of what encloses it: `research/find`, `both/pro/x`, `pre_turn/recall`
  std::string name;
  std::string kind;  ///< empty if it is missing
  std::string documentation;
  std::vector<Setting> options;
  std::optional<Item> item;
  std::string statements;  ///< of `code` and `set`; without the indentation of the first
  std::vector<Edge> edges;
  std::vector<Sequence> nested;  ///< of a for_each, one without a name; of a parallel, its branches
};

/// Blocks that are connected by edges.
struct Sequence {
  syntax::NodeId node;  ///< AgentItem, TurnSection, BlockItem or BranchItem
  std::string path;     ///< empty for the main one, else `pre_turn`, `research`, `both/pro`
  std::string name;     ///< `pre_turn`, `post_turn`, a branch's name, else empty
  std::vector<Block> blocks;

  [[nodiscard]] const Block* find(std::string_view block) const;
};

/// What a file or an agent declares: a function, a type, an agent.
struct Declaration {
  syntax::NodeId node;
  std::string kind;  ///< `fn`, `extern`, `struct`, `enum`, `impl`, `type`, `test`, `agent`, `use`
  std::string name;
  std::string documentation;
  std::string text;  ///< of an agent, which has other parts, empty
};

struct Agent {
  syntax::NodeId node;
  std::string name;
  std::string documentation;
  std::optional<std::string> start;      ///< as written; if absent, the first block is the start; empty: there is none
  std::optional<std::string> next_turn;  ///< as written
  std::vector<Setting> state;
  std::vector<Setting> scratchpad;
  std::string instructions;  ///< their statements, without the indentation of the first
  std::vector<Declaration> functions;
  std::vector<Sequence> sequences;  ///< the main one, then `pre_turn` and `post_turn` if they are there

  [[nodiscard]] const Sequence& main() const { return sequences.front(); }
  /// The name of the block that a conversation starts with; empty if there is none.
  [[nodiscard]] std::string_view first_block() const;
  [[nodiscard]] const Block* find_block(std::string_view path) const;
  [[nodiscard]] const Sequence* find_sequence(std::string_view path) const;
};

/// The agents of a file as graphs of blocks: a second view of the same text.
struct Graph {
  std::vector<Agent> agents;
  std::vector<Declaration> declarations;  ///< of the file, in its order

  [[nodiscard]] const Agent* find(std::string_view agent) const;
};

/// Only reads the tree. What is missing in damaged text is empty.
[[nodiscard]] Graph make_graph(const syntax::SyntaxTree& tree);

/// `fn`, `struct`, …; empty for a node that declares nothing.
[[nodiscard]] std::string_view declaration_kind(syntax::NodeKind kind);

/// The path of the sequence that contains a block: `both/pro` of `both/pro/x`.
[[nodiscard]] std::string_view sequence_of(std::string_view block_path);
/// The block's own name: `x` of `both/pro/x`.
[[nodiscard]] std::string_view name_in(std::string_view block_path);

}  // namespace tenon::graph
