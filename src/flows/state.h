#pragma once

#include <vector>

#include "bytecode/control_regions.h"
#include "flows/values.h"

namespace tenon::flows {

/// A region of code that runs because of a decision on labelled values, as vm::OpenRegion.
struct OpenRegion {
  bytecode::Decision decision = 0;
  Label label;
  friend bool operator==(const OpenRegion&, const OpenRegion&) = default;
};

/// What is known when control is at an instruction: of the frame's registers, and of what its fiber has.
struct FrameState {
  std::vector<ValueId> registers;
  std::vector<OpenRegion> regions;  ///< of this frame, by their decisions
  std::vector<Label> budgets;       ///< open in this frame, the outermost first: what decided how much is spent of each
  Label spent;                      ///< what decided how much the run has spent
  ValueId agent_state = Values::clean;
  ValueId kept_states = Values::clean;  ///< a list, or nothing: what decided who has the turn, and of all states
  friend bool operator==(const FrameState&, const FrameState&) = default;
};

/// Adds what `other` may be as well. Returns whether that is new.
bool merge_into(FrameState& state, const FrameState& other, Labels& labels, Values& values);

}  // namespace tenon::flows
