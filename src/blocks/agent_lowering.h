#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "blocks/block_writer.h"
#include "blocks/written.h"

namespace tenon::blocks {

/// Writes one block agent as an agent of functions. Internal to this folder.
///
/// `turn` runs the blocks of `pre_turn`, then those of the agent, then those of `post_turn`, each sequence in a loop
/// over the next block's name. What has to outlive a turn, and what a block tells, is kept in the state's entry
/// `blocks`.
class AgentLowering : private BlockWriter {
 public:
  AgentLowering(const syntax::SyntaxTree& tree, const BlockAgent& agent, LoweredText& out)
      : BlockWriter(tree, agent, out) {}

  void write();

 private:
  /// What the agent's blocks need of the parts that only some agents have.
  struct Needs {
    bool edits = false;      ///< what the model sees of the conversation is not what was said
    bool tools = false;      ///< a core loop with tools, which ends with an answer
    bool judgement = false;  ///< a condition that a model decides
    bool critique = false;   ///< a reflect block
  };
  /// Where a sequence is.
  enum class Place : std::uint8_t { Main, AroundTurn, Nested };

  // lower_agent.cpp: sections, `turn`
  void write_types();
  void write_state();
  void write_turn();
  void write_first_block();
  void write_next_turn_choice(std::string_view start);
  void name_added_entries();
  void write_post_turn();
  void write_turn_end();
  /// Whether a handoff has to run `post_turn` itself: the block that runs it otherwise comes after the other agent's
  /// turn.
  [[nodiscard]] bool has_handoff_before_post_turn() const;
  void write_helpers();
  void write_conversation_view();
  void find_needs(const Sequence& sequence);
  /// Whether the model decides on the condition of an edge.
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
  void edit_message_arm(const Block& block);
  void compress_arm(const Block& block);
  void hand_off(const Block& block);
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
  /// emitted.
  void nested_function(const Block& block, const Sequence& sequence, std::string_view suffix,
                       const std::vector<WrittenEntry>& results, NodeId value, NodeId value_type);

  Needs needs_;
  std::set<std::string> virtual_tools_;  ///< written already
};

}  // namespace tenon::blocks
