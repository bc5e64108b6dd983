#pragma once

namespace tenon::vm {

struct Fiber;
struct MachineState;

/// Whether the text that completes the branch's function is, unchanged, the output of the run: the value of the run's
/// function or of a conversation's turn, or what such a turn emits. Then it can be shown while it is generated. If the
/// program processes it first, for example by checking a contract, it is not; nor inside a `catch`, which would replace
/// a text that fails, or a `finally`, whose block runs first. A `shield` does neither.
[[nodiscard]] bool is_streamed_output(const MachineState& state, const Fiber& fiber);

}  // namespace tenon::vm
