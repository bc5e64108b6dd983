#pragma once

#include <cstdint>

#include "bytecode/bounds.h"

/// The numbers of the fields of a snapshot. They are on disks: a number is never reused, and a new one is higher.
namespace tenon::vm::snapshot_form {

/// The snapshot.
enum : std::uint32_t {
  format = 1,
  source = 2,  ///< repeated message of 1 kind, 2 name
  label = 3,   ///< repeated: packed indices of sources; label 0 is not written
  object = 4,  ///< repeated: an object; what it refers to is before it
  scope = 5,   ///< repeated message
  fiber = 6,   ///< repeated message, oldest first
  ready = 7,   ///< packed ids of fibers
  next_fiber = 8,
  next_request = 9,
  cancelled = 10,  ///< packed ids of requests
  instructions = 11,
  finished = 12,            ///< a value
  failed = 13,              ///< message
  damaged = 14,             ///< message of 1 message, 2 place
  agent_state_at_end = 15,  ///< a value
  kept_states_at_end = 50,  ///< a value
  allowance = 16,           ///< a scope's message: what is spent of it
  questions = 51,           ///< a label
};

/// A budget scope. Those that are free are written too, as empty messages, so that indices hold.
enum : std::uint32_t {
  scope_is_open = 1,
  scope_parent = 2,  ///< plus 1
  scope_budget = 3,  ///< plus 1
  // 4 to 9: scope_bounds
  scope_model_calls = 10,
  scope_tokens = 11,
  scope_instructions = 12,
  scope_cost = 13,
  scope_milliseconds = 14,
  scope_base_depth = 15,
  scope_kind = 16,
  scope_label = 17,
  scope_bits_bound = 18,
  scope_bits = 19,
};

inline constexpr bytecode::BoundFields scope_bounds = {{{4, &bytecode::Bounds::model_calls},
                                                        {5, &bytecode::Bounds::tokens},
                                                        {6, &bytecode::Bounds::instructions},
                                                        {7, &bytecode::Bounds::depth},
                                                        {8, &bytecode::Bounds::cost_millionths},
                                                        {9, &bytecode::Bounds::milliseconds}}};

/// A fiber.
enum : std::uint32_t {
  fiber_id = 1,
  fiber_parent = 2,  ///< plus 1
  fiber_branch = 3,
  fiber_block_pc = 4,
  fiber_budget_floor = 5,
  fiber_depth_base = 6,
  fiber_key = 7,
  fiber_next_ordinal = 8,
  fiber_state = 9,
  fiber_ordinal = 10,
  fiber_request = 11,
  fiber_is_request_taken = 12,
  fiber_block_started = 13,
  fiber_block_finished = 14,
  fiber_block_values = 15,  ///< packed values
  fiber_frames = 16,        ///< packed: function, pc, base, scope, open budgets
  fiber_registers = 17,     ///< packed values, all that the frames reach
  fiber_agent_state = 18,   ///< a value; absent for ()
  fiber_awaited = 19,       ///< a value; absent for ()
  fiber_kept_states = 50,   ///< a value; absent for ()
  fiber_regions = 51,       ///< packed: frame, decision, label; absent when there are none
  fiber_approval = 52,
  fiber_trials = 53,  ///< packed: frame, handler, label, doubt, shown; absent when there are none
};

/// A failure's report.
enum : std::uint32_t {
  failed_kind = 1,
  failed_message = 2,
  failed_place = 3,
  failed_blame = 4,
  failed_label = 5,
  failed_calls = 6,  ///< packed: function, file, line, column
  failed_left_out = 7,
};

/// The first byte of an object is its Tag, or this for a constant of the program, whose index follows.
inline constexpr std::uint8_t constant_object = 1;

/// The first byte of a value: its Tag, and this when a label follows.
inline constexpr std::uint8_t labelled_value = 0x80;

}  // namespace tenon::vm::snapshot_form
