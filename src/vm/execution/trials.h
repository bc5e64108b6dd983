#pragma once

#include <cstdint>

#include "vm/machine_state.h"

/// That nothing has failed says something, too: what a `catch` protects is a trial, and where a call that acts comes
/// after a test of untrusted data that would have failed, the call says how the test went. Labels would refuse it, and
/// with it most of what programs do with what they have read. So it is charged instead, as a narrow answer is
/// (docs/decisions/0062-trials.md): one bit of `budget(bits: …)` for the first such call of a trial, or for its
/// failure, and of more only as many as it takes to number them. What the body and the handler write is raised where
/// they meet, as at the end of any region.
///
/// Trials are watched in programs with externs that act, and charged if they can come to such a call
/// (bytecode::HandlerFacts).
namespace tenon::vm {

/// The newest frame has come to `pc`, where trials may begin.
void begin_trials(MachineState& state, Fiber& fiber, std::uint32_t pc);
/// Likewise, where the regions of their handlers may end.
void end_trials(MachineState& state, Fiber& fiber, std::uint32_t pc);
/// The newest frame ends with this value.
void leave_trials(MachineState& state, Fiber& fiber, Value& result);
/// Drops the trials of frames that have ended, and those of the newest frame whose bodies are within [begin, end): a
/// failure has left them. Returns the label of what they have come to.
LabelId drop_trials(MachineState& state, Fiber& fiber, std::uint32_t begin, std::uint32_t end);

/// The fiber's newest instruction has done what might have failed because of what has this label.
void note_doubt(MachineState& state, const Fiber& fiber, LabelId label);
/// Likewise, because of any part of the value.
void note_doubt_of(MachineState& state, const Fiber& fiber, const Value& value);
/// What has this label has decided how much is spent in the budgets around: what is left of them depends on it, and
/// that one is not spent might have failed because of it.
void note_spending(MachineState& state, const Fiber& fiber, LabelId label);

/// Before a call that acts: charges the trials that it is in for what was done in them since the last one.
[[nodiscard]] OpStatus charge_trials(MachineState& state, const Fiber& fiber);
/// Whether a trial that the fiber is in was charged.
[[nodiscard]] bool is_tried(MachineState& state, const Fiber& fiber);
/// Before the handler of one of the fiber's frames takes the failure, a Failure record: charges its trial, unless
/// what has failed depends on trusted data alone, nothing was in doubt, or no call that acts could have followed.
[[nodiscard]] OpStatus charge_failed_trial(MachineState& state, Fiber& fiber, std::size_t frame,
                                           const bytecode::Handler* handler, const Value& failure);

}  // namespace tenon::vm
