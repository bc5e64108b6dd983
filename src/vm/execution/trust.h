#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "vm/machine_state.h"
#include "vm/request.h"

/// What may decide a call that acts, and what makes a value trusted (docs/language/23-trust.md): the program vouches
/// for an extern's result, a model's answer is narrow, or the program endorses a value.
namespace tenon::vm {

/// Whether what comes from there may decide what a call that acts does.
[[nodiscard]] bool is_trusted(const Source& source, const bytecode::Program& program);
/// Whether all sources are trusted.
[[nodiscard]] bool is_trusted(const MachineState& state, LabelId label);
/// Those that are not, as `describe` names them; empty when all are trusted.
[[nodiscard]] std::vector<std::string> untrusted_sources(const MachineState& state, LabelId label);

/// At a CallExtern: fails with Untrusted unless what its trusted parameters get, and that it is made, comes from
/// trusted sources, or a person has approved of the call, or is now asked to.
[[nodiscard]] OpStatus check_call(MachineState& state, Fiber& fiber);
/// The question about the call at which the fiber is, in its request: subject and arguments.
void ask_about_call(const MachineState& state, const Fiber& fiber, Request& request);
/// What the person has said: the arguments are theirs, and the call is made next; or it fails with Refused.
[[nodiscard]] OpStatus take_approved_call(MachineState& state, Fiber& fiber, Value& answer, LabelId call);
/// RequireTrusted: the same for one value. `what`: `` `to` of `pay` ``.
[[nodiscard]] OpStatus require_trusted(MachineState& state, const Fiber& fiber, const Value& value, const Value& what);

/// Labels what an extern has returned: all of it with `call`, and what the program does not vouch for with `source`,
/// too. Where it vouches for fields of structs, it vouches for what they are found in: that they exist, and how many.
void label_result(MachineState& state, const bytecode::Extern& callee, Value& value, LabelId call, LabelId source);
/// Takes what a person has said to `approve`: the value is theirs, or the call fails with Refused.
/// `what`: as a failure names it.
[[nodiscard]] OpStatus take_approval(MachineState& state, Value& answer, const std::string& what, LabelId call);
/// The label of a model's answer to the request, which saw what `seen` labels.
[[nodiscard]] LabelId label_of_answer(MachineState& state, const Request& request, LabelId seen);
/// Why the call of an extern that acts, which waits, may be made: `approved` by a person, `endorsed`, `narrow`,
/// `tried`, or none of these: `trusted`. Empty for any other request.
[[nodiscard]] std::vector<std::string_view> reasons_for_call(MachineState& state, const Request& request);
/// Endorse: the value gets the label that the program answers for it.
void endorse(MachineState& state, const Fiber& fiber, Value& value, std::string_view why);
/// The budget that bits are charged to: the innermost around the fiber's newest instruction that bounds them, or the
/// run.
[[nodiscard]] ScopeId scope_of_bits(const MachineState& state, const Fiber& fiber);
/// Fails with BudgetSpent if there are not so many left.
[[nodiscard]] OpStatus charge_bits(MachineState& state, const Fiber& fiber, std::uint32_t bits);
/// Charges the bits of a narrow answer, if the request that comes next asks for one.
[[nodiscard]] OpStatus charge_answer(MachineState& state, const Fiber& fiber);

}  // namespace tenon::vm
