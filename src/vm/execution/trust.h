#pragma once

#include <string>

#include "vm/machine_state.h"
#include "vm/request.h"

/// What may decide a call that acts, and what makes a value trusted (docs/language/23-trust.md): the program vouches
/// for an extern's result, a model's answer is narrow, or the program endorses a value.
namespace tenon::vm {

/// Whether what comes from there may decide what a call that acts does.
[[nodiscard]] bool is_trusted(const Source& source, const bytecode::Program& program);
/// `extern read_inbox and person`; empty when all sources are trusted.
[[nodiscard]] std::string describe_untrusted(const MachineState& state, LabelId label);

/// At a CallExtern: fails with Untrusted unless what its trusted parameters get, and that it is made, comes from
/// trusted sources.
[[nodiscard]] OpStatus check_call(MachineState& state, const Fiber& fiber);
/// RequireTrusted: the same for one value. `what`: `` `to` of `pay` ``.
[[nodiscard]] OpStatus require_trusted(MachineState& state, const Fiber& fiber, const Value& value, const Value& what);

/// Labels what an extern has returned: all of it with `call`, and what the program does not vouch for with `source`,
/// too. Where it vouches for fields of structs, it vouches for what they are found in: that they exist, and how many.
void label_result(MachineState& state, const bytecode::Extern& callee, Value& value, LabelId call, LabelId source);
/// The label of a model's answer to the request, which saw what `seen` labels.
[[nodiscard]] LabelId label_of_answer(MachineState& state, const Request& request, LabelId seen);
/// Charges the bits of a narrow answer; any other costs none.
[[nodiscard]] OpStatus charge_bits(MachineState& state, const Fiber& fiber);

}  // namespace tenon::vm
