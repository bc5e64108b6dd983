#pragma once

namespace tenon::vm {

struct Fiber;
struct MachineState;

/// Whether the text that completes the branch's function is, unchanged, the output of the run: the value of the run's
/// function or of a conversation's turn, or what such a turn emits. Then it can be shown while it is generated. Before
/// that, the program may only compute other values, on every way, without loops and calls: if it can fail (except for
/// arithmetic), for example by checking a contract, or has an effect, the text is not shown; nor inside a `catch`,
/// which would replace a text that fails, a `finally`, whose block runs first, or a branch of `parallel`, which is
/// joined with the others first. A `shield` does none of it.
[[nodiscard]] bool is_streamed_output(const MachineState& state, const Fiber& fiber);

}  // namespace tenon::vm
