#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "blocks/kinds.h"
#include "syntax/tree.h"

namespace tenon::blocks {

struct Block;

/// Blocks that are connected by edges. A sequence starts with its first block, that of an agent with the one named by
/// `start`.
struct Sequence {
  syntax::NodeId node;  ///< the agent, the turn section, the for_each or the branch
  std::string name;     ///< of a branch; else empty
  std::vector<Block> blocks;

  [[nodiscard]] const Block* find(std::string_view block) const;
};

/// One block of the source. What is missing in a damaged one is absent.
struct Block {
  syntax::NodeId node;
  const KindRule* kind = nullptr;  ///< null if no kind has that name
  std::string name;
  std::string path;  ///< with the names of the enclosing blocks: `research/find`
  std::vector<syntax::NodeId> options;
  std::vector<syntax::NodeId> exits;  ///< When-, To-, On-, Else- and CalledClause, in the order of the source
  syntax::NodeId statements;          ///< of `code` and `set`
  syntax::NodeId next;                ///< the NextClause
  syntax::NodeId item;                ///< the ItemClause
  std::vector<Sequence> nested;       ///< one for a for_each, the branches of a parallel
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
/// The agent, the struct, the enum, the function or the extern of the file with that name; may be absent.
[[nodiscard]] syntax::NodeId find_item(const syntax::SyntaxTree& tree, std::string_view name);
/// Whether the value of that option has the form that lowering needs: `agent` a name that the file does not give to
/// something else, `call` a call, `into` a place in the state. The check reports others, and lowering leaves them out.
[[nodiscard]] bool has_usable_form(const syntax::SyntaxTree& tree, syntax::NodeId value, std::string_view option);
/// Whether there is a `_` in the expression.
[[nodiscard]] bool has_hole(const syntax::SyntaxTree& tree, syntax::NodeId node);
/// A block that a block can continue with, and the node of the edge: a clause or an OnArm. In the order of the source.
struct Exit {
  syntax::NodeId node;
  std::string target;
};
[[nodiscard]] std::vector<Exit> exits(const syntax::SyntaxTree& tree, const Block& block);
/// Whether the next turn can continue at the block.
[[nodiscard]] bool is_restartable(const syntax::SyntaxTree& tree, const Block& block);
/// Whether the block is a handoff, which delegates the rest of the turn.
[[nodiscard]] bool is_handoff(const syntax::SyntaxTree& tree, const Block& block);
/// Whether the block is in `pre_turn` or `post_turn`, or nested in such a block.
[[nodiscard]] bool is_around_turn(const Block& block);
/// Whether the block is inside another block, and not directly in the agent, `pre_turn` or `post_turn`.
[[nodiscard]] bool is_nested(const Block& block);
/// `state` or `scratchpad`, and the name of the field, of an expression such as `state.customer.name`; nothing for
/// other expressions.
struct FieldName {
  std::string_view owner;
  std::string_view name;
  bool is_whole = false;  ///< `state.customer`, and not a part of it
};
[[nodiscard]] std::optional<FieldName> find_field_name(const syntax::SyntaxTree& tree, syntax::NodeId place);
/// The StateField that declares the field; absent if there is none.
[[nodiscard]] syntax::NodeId find_field(const syntax::SyntaxTree& tree, const BlockAgent& agent,
                                        const FieldName& named);
/// The field in the glue of lowering (LoweredText::glue): `state.customer`, `state.$scratchpad_entry.notes`.
[[nodiscard]] std::string state_place(std::string_view owner, std::string_view name);
/// `T` of `T?` and `Option<T>`; other types unchanged.
[[nodiscard]] syntax::NodeId without_option(const syntax::SyntaxTree& tree, syntax::NodeId type);
/// Whether the glue of lowering calls the method `ctx.NAME(…)`.
[[nodiscard]] bool is_context_method(std::string_view name);
/// The name of the tool with which the model reads or writes a field: `write_scratchpad_notes`.
[[nodiscard]] std::string virtual_tool_name(const FieldName& named, bool is_write);
/// The tool's name in `called TOOL -> NEXT`; nothing if it is damaged.
[[nodiscard]] std::optional<syntax::TokenIndex> called_tool(const syntax::SyntaxTree& tree, syntax::NodeId clause);

}  // namespace tenon::blocks
