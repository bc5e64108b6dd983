#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "blocks/agent_needs.h"
#include "blocks/block_writer.h"
#include "blocks/written.h"

namespace tenon::blocks {

/// Writes what the blocks of an agent become: functions of the agent, and loops over the next block's name with an arm
/// for each block. Internal to this folder.
class BlockLowering : protected BlockWriter {
 protected:
  using BlockWriter::BlockWriter;

  // lower_sequences.cpp
  /// Runs the sequence's blocks, beginning with the one that the variable `next_block` names.
  void write_sequence(const Sequence& sequence, std::string_view path, Place place);
  void write_post_turn();
  void write_turn_end();
  void hand_off(const Block& block);

  // lower_blocks.cpp: the functions of a block, and its arm
  void write_functions(const Sequence& sequence, Place place);
  void write_functions(const Block& block);
  void write_arm(const Block& block, Place place);

 private:
  /// Whether the arm already has the next block's name as its value.
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
  void summarize_in_parts(const Block& block);
  void edit_message_arm(const Block& block);
  void compress_arm(const Block& block);
  /// Leaves the block for the clause's target if its condition holds.
  void when_clause(NodeId clause);
  void virtual_tools(const Block& block, std::vector<std::string>& names);
  void write_virtual_tool(const FieldName& named, NodeId field, bool is_write, std::vector<std::string>& names);

  // lower_nested.cpp: for_each and parallel
  void for_each(const Block& block);
  void for_each_arm(const Block& block);
  void parallel(const Block& block);
  void parallel_arm(const Block& block);
  /// The function of a nested sequence. It returns `value`, if there is one, the fields that the sequence changed, and
  /// the text that it emitted.
  void nested_function(const Block& block, const Sequence& sequence, std::string_view suffix,
                       const std::vector<WrittenField>& results, NodeId value, NodeId value_type);

  std::set<std::string> virtual_tools_;  ///< written already
};

}  // namespace tenon::blocks
