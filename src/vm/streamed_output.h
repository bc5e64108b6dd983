#pragma once

namespace tenon::vm {

struct Fiber;
struct MachineState;

/// Whether the text that completes the function in which the branch stands is what the run says, as it is: the value of
/// the run's own function or of a conversation's turn, or what such a turn emits. Then it can be shown while it is
/// written. Anything that is done with it before, such as a contract's check, makes it no such text.
[[nodiscard]] bool is_streamed_output(const MachineState& state, const Fiber& fiber);

}  // namespace tenon::vm
