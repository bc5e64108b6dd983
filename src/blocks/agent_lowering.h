#pragma once

#include <string_view>

#include "blocks/block_lowering.h"

namespace tenon::blocks {

/// Writes one block agent as an agent of functions: its state, its `turn` and the functions that they need. Internal to
/// this folder.
///
/// `turn` runs the blocks of `pre_turn`, then those of the agent, then those of `post_turn`. What must outlive a turn,
/// and the text that blocks emit, is kept in the state's field `blocks`.
class AgentLowering : private BlockLowering {
 public:
  AgentLowering(const syntax::SyntaxTree& tree, const BlockAgent& agent, LoweredText& out)
      : BlockLowering(tree, agent, out), needs_(find_needs(tree, agent)) {}

  void write();

 private:
  void write_types();
  void write_state();
  void write_turn();
  void write_first_block();
  void write_next_turn_choice(std::string_view start);
  void name_added_fields();
  void write_helpers();
  void write_conversation_view();

  Needs needs_;
};

}  // namespace tenon::blocks
