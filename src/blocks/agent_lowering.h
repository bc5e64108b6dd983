#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "blocks/lowered_text.h"
#include "blocks/model.h"
#include "blocks/written.h"

namespace tenon::blocks {

/// Writes one block agent as an agent of functions. Internal to this folder.
///
/// `turn` runs the blocks of `pre_turn`, then those of the agent, then those of `post_turn`, each sequence in a loop
/// over the next block's name. What has to outlive a turn, and what a block tells, stands in the state's entry
/// `blocks`.
class AgentLowering {
 public:
  AgentLowering(const syntax::SyntaxTree& tree, const BlockAgent& agent, LoweredText& out)
      : tree_(tree), agent_(agent), out_(out) {}

  void write();

 private:
  using NodeId = syntax::NodeId;
  using NodeKind = syntax::NodeKind;
  using Names = LoweredText::Names;

  /// What the agent's blocks need of the parts that only some agents have.
  struct Needs {
    bool edits = false;      ///< what the model sees of the conversation is not what was said
    bool tools = false;      ///< a core loop with tools, which ends with an answer
    bool judgement = false;  ///< a condition that a model decides
    bool critique = false;   ///< a reflect block
  };
  /// Where a sequence stands.
  enum class Place : std::uint8_t { Main, AroundTurn, Nested };
  /// Where a block's value goes. Without a place the person gets it.
  struct Destination {
    NodeId place;
    NodeId type;               ///< of the value; absent where the place is no whole entry
    bool is_optional = false;  ///< the entry is an Option of `type`
  };

  // lower_agent.cpp: sections, `turn`
  void write_types();
  void write_state();
  void write_turn();
  void write_first_block();
  void write_next_turn_choice();
  void write_helpers();
  void write_conversation_view();
  void find_needs(const Sequence& sequence);
  /// Whether the model decides on the condition of a way out.
  [[nodiscard]] bool is_judged_by_model(NodeId clause) const;
  [[nodiscard]] bool may_tell(const Block& block) const;
  [[nodiscard]] std::set<std::string> find_followers(const Sequence& sequence, Place place) const;
  /// Runs the sequence's blocks, beginning with what the variable `next_block` names.
  void write_sequence(const Sequence& sequence, std::string_view path, Place place);

  // lower_blocks.cpp: what a kind of block becomes; functions first, then the arm that runs it
  void write_functions(const Sequence& sequence, Place place);
  void write_functions(const Block& block);
  void write_arm(const Block& block, Place place);
  /// Whether the arm's value is the next block's name by itself.
  [[nodiscard]] bool ends_with_next(const Block& block) const;
  [[nodiscard]] static bool is_inline(const Block& block, Place place);
  void core_loop(const Block& block);
  void write_kept_calls();
  void route(const Block& block);
  void request(const Block& block);
  void call(const Block& block);
  void reflect(const Block& block);
  void report(const Block& block);
  void code(const Block& block);
  void compress(const Block& block);
  void conversation_arm(const Block& block);
  /// Leaves the block for the clause's target where its condition holds.
  void when_clause(NodeId clause);
  void virtual_tools(const Block& block, std::vector<std::string>& names);
  void write_virtual_tool(const Entry& entry, NodeId field, bool is_write, std::vector<std::string>& names);

  // lower_nested.cpp: for_each and parallel
  void for_each(const Block& block);
  void for_each_arm(const Block& block);
  void parallel(const Block& block);
  void parallel_arm(const Block& block);
  /// The function of a nested sequence: gives `value`, where there is one, what the sequence has changed, and what it
  /// told.
  void nested_function(const Block& block, const Sequence& sequence, std::string_view suffix,
                       const std::vector<WrittenEntry>& results, NodeId value, NodeId value_type);

  // writing
  void glue(std::string_view text) { out_.glue(text); }
  void copy(NodeId node, Names names = Names::Agent) { out_.copy(node, names); }
  /// The node's text, or `fallback` where there is no node.
  void copy_or(NodeId node, std::string_view fallback);
  /// A statement that injects the text; nothing where there is none.
  void inject(NodeId text);
  void next(const Block& block);
  void documentation(NodeId node);
  [[nodiscard]] bool is_name_taken(const Block& block) const;
  /// Of the block's function, or of the one for a part of it: `sort_choice`.
  void function_name(const Block& block, std::string_view suffix);
  /// `fn NAME(ctx: Context, input: String, …)`, without result and body.
  void function_head(const Block& block, std::string_view suffix = "", std::string_view parameters = "");
  /// `NAME(ctx, input, …)`.
  void function_call(const Block& block, std::string_view suffix = "", std::string_view arguments = "");
  void variables_as_parameters();
  void variables_as_arguments();
  /// The block's value goes to its destination: `begin_deliver`, the value, `end_deliver`.
  void begin_deliver(const Destination& destination);
  void end_deliver();
  void type_of(const Destination& destination);
  [[nodiscard]] Destination destination(const Block& block) const;
  [[nodiscard]] NodeId option(const Block& block, std::string_view name) const {
    return find_option(tree_, block, name);
  }

  const syntax::SyntaxTree& tree_;
  const BlockAgent& agent_;
  LoweredText& out_;
  Needs needs_;
  std::vector<NodeId> items_;            ///< the ItemClauses of the for_each blocks around
  std::set<std::string> virtual_tools_;  ///< written already
};

/// `List<T>`: T; absent for any other type.
[[nodiscard]] syntax::NodeId item_type(const syntax::SyntaxTree& tree, syntax::NodeId type);
/// A text as a string literal.
[[nodiscard]] std::string quoted(std::string_view text);

}  // namespace tenon::blocks
