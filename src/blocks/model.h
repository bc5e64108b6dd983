#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "blocks/kinds.h"
#include "syntax/tree.h"

namespace tenon::blocks {

struct Block;

/// Blocks that lead to each other. A sequence begins with its first block, that of an agent with the one that `start`
/// names.
struct Sequence {
  syntax::NodeId node;  ///< the agent, the turn section, the for_each or the branch
  std::string name;     ///< of a branch; else empty
  std::vector<Block> blocks;

  [[nodiscard]] const Block* find(std::string_view block) const;
};

/// One block as it was written. What a damaged one lacks is absent.
struct Block {
  syntax::NodeId node;
  const KindRule* kind = nullptr;  ///< none when no kind has that name
  std::string name;
  std::string path;  ///< with what it is nested in: `research/find`
  std::vector<syntax::NodeId> options;
  std::vector<syntax::NodeId> exits;  ///< When-, To-, On-, Else- and CalledClause, in the order of the source
  syntax::NodeId statements;          ///< of `code` and `set`
  syntax::NodeId next;                ///< the NextClause
  syntax::NodeId item;                ///< the ItemClause
  std::vector<Sequence> nested;       ///< of a for_each one; of a parallel its branches
};

/// An agent that is written as blocks.
struct BlockAgent {
  syntax::NodeId node;
  std::string name;
  Sequence main;
  std::optional<Sequence> pre_turn, post_turn;
  syntax::NodeId state, scratchpad, start, next_turn;
};

/// Whether the agent has blocks, a scratchpad or another section of block agents.
[[nodiscard]] bool is_block_agent(const syntax::SyntaxTree& tree, syntax::NodeId agent);
[[nodiscard]] BlockAgent read_agent(const syntax::SyntaxTree& tree, syntax::NodeId agent);

/// The expression of the option of that name; may be absent.
[[nodiscard]] syntax::NodeId find_option(const syntax::SyntaxTree& tree, const Block& block, std::string_view name);
/// The names of the blocks that a block can continue with, in the order of the source, each with the node that says so:
/// a clause or an OnArm.
struct Exit {
  syntax::NodeId node;
  std::string target;
};
[[nodiscard]] std::vector<Exit> exits(const syntax::SyntaxTree& tree, const Block& block);
/// Whether the next turn may continue at the block.
[[nodiscard]] bool is_restartable(const syntax::SyntaxTree& tree, const Block& block);
/// Whether the block delegates the rest of the conversation too.
[[nodiscard]] bool is_handoff(const syntax::SyntaxTree& tree, const Block& block);
/// Whether the block is in `pre_turn` or `post_turn`, or is nested in one that does.
[[nodiscard]] bool is_around_turn(const Block& block);
/// Whether another block nests it: it is neither in the agent's own sequence nor before or after a turn.
[[nodiscard]] bool is_nested(const Block& block);
/// `state` or `scratchpad` and the entry, of an expression such as `state.customer.name`; nothing for any other.
struct Entry {
  std::string_view owner;
  std::string_view name;
  bool is_whole = false;  ///< `state.customer` and not a part of it
};
[[nodiscard]] std::optional<Entry> find_entry(const syntax::SyntaxTree& tree, syntax::NodeId place);
/// The StateField that declares the entry; absent when there is none.
[[nodiscard]] syntax::NodeId find_field(const syntax::SyntaxTree& tree, const BlockAgent& agent, const Entry& entry);
/// The entry in the text that lowering writes (LoweredText::glue): `state.customer`, `state.$scratchpad_entry.notes`.
[[nodiscard]] std::string state_place(std::string_view owner, std::string_view name);
/// `T` of `T?` and `Option<T>`; any other type as it is.
[[nodiscard]] syntax::NodeId without_option(const syntax::SyntaxTree& tree, syntax::NodeId type);
/// Whether `ctx.NAME(…)` is something that what blocks become does with its context.
[[nodiscard]] bool is_context_method(std::string_view name);
/// How the tool is called with which the model reads or writes an entry: `write_scratchpad_notes`.
[[nodiscard]] std::string virtual_tool_name(const Entry& entry, bool is_write);
/// The tool's name in `called TOOL -> NEXT`; nothing in a damaged one.
[[nodiscard]] std::optional<syntax::TokenIndex> called_tool(const syntax::SyntaxTree& tree, syntax::NodeId clause);

}  // namespace tenon::blocks
