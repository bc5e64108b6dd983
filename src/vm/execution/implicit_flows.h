#pragma once

#include <cstdint>

#include "vm/machine_state.h"

/// What depends on a decision gets the label of what was decided on. A labelled decision opens the region of code that
/// it decides about (bytecode/control_regions.h), and until the region ends, what the fiber asks the world and how it
/// fails carry the label (Fiber::control). At the end, everything that any path of the region writes is raised,
/// whichever path was taken: what was not written says something, too.
namespace tenon::vm {

/// The code that the newest frame executes: with marks where regions end, while one of its own is open.
[[nodiscard]] const bytecode::Instruction* code_of(const MachineState& state, const Fiber& fiber);

/// The newest frame decides at `pc` on what `by` labels. Returns its code_of from then on.
[[nodiscard]] const bytecode::Instruction* open_region(MachineState& state, Fiber& fiber, std::uint32_t pc, LabelId by);
/// The newest frame has come to `pc`, at which regions of it may end. Returns its code_of from then on.
[[nodiscard]] const bytecode::Instruction* end_regions(MachineState& state, Fiber& fiber, std::uint32_t pc);
/// The newest frame ends with this value, in whatever regions are open.
void leave_regions(MachineState& state, Fiber& fiber, Value& result);

/// The newest frame continues at a handler, or with the block of a `finally`, which `decision` names, because of a
/// failure with this label. Regions that end in [begin, end) do not end any more; those of frames that have ended are
/// dropped.
void open_failure_region(MachineState& state, Fiber& fiber, bytecode::Decision decision, LabelId by,
                         std::uint32_t begin, std::uint32_t end);
/// The newest frame, an agent's or the first of a branch, runs because of what `by` labels. It has taken the place of
/// those whose regions are open at its own index or above, if any.
void inherit_regions(MachineState& state, Fiber& fiber, LabelId by);

/// Raises what any path of a region writes, at its end.
void raise_region(MachineState& state, Fiber& fiber, const bytecode::ControlRegion& region, LabelId label);
/// Likewise, where the frame ends with this value.
void raise_at_end(MachineState& state, Fiber& fiber, const bytecode::ControlRegion& region, LabelId label,
                  Value& result);

/// A person is asked by the newest frame.
void note_question(MachineState& state, const Fiber& fiber);
/// The newest frame begins a branch for each item of a list with this label: as many may ask a person.
void note_branches(MachineState& state, const Fiber& fiber, LabelId list);
/// A failure with this label ends the run: what it would have asked after it is not asked.
void note_failed_run(MachineState& state, const Fiber& fiber, LabelId label);

/// What a fiber's next instruction depends on: computed again from its regions, and those of the fibers that it is a
/// branch of.
[[nodiscard]] LabelId control_of(MachineState& state, const Fiber& fiber);

}  // namespace tenon::vm
