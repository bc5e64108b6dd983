#pragma once

#include <cstdint>

/// The numbers of the fields in a run's snapshot. They are stored on disks.
namespace tenon::runtime {

enum : std::uint32_t { snapshot_conversation = 1, snapshot_core = 2, snapshot_start = 3, snapshot_asked = 4 };

/// In the field of the conversation.
enum : std::uint32_t {
  conversation_turns = 1,
  conversation_state = 2,
  conversation_history = 3,
  conversation_turn_messages = 4,
  conversation_agent = 5,
  conversation_older = 6,
  conversation_recent = 7,  ///< each: 1 role, 2 text
  conversation_agent_before = 50,
  conversation_kept_state = 51,    ///< each: 1 the agent, 2 its state
  conversation_program = 60,       ///< the hash of the program that continues the conversation
  conversation_state_pieces = 61,  ///< instead of the state: the list of its pieces
  /// Message of 1 repeated: 1 the entry's number plus 1, 2 sources; 2 repeated: 1 an agent, 2 repeated: 1 sources of
  /// the state's next entry. A source: 1 kind, 2 name. Absent in older snapshots.
  conversation_labels = 62,
};

/// In the field of the core.
enum : std::uint32_t { snapshot_machine = 1, snapshot_record = 2, snapshot_block = 3, snapshot_cancelled = 4 };

}  // namespace tenon::runtime
