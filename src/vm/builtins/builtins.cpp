#include "vm/builtins/builtins.h"

#include <algorithm>
#include <array>

#include "vm/execution/operations.h"

namespace tenon::vm {
namespace {

using types::Builtin;

constexpr std::size_t builtin_numbers = 256;

/// The functions by number, so that a call is a single lookup.
const std::array<BuiltinFunction*, builtin_numbers>& functions() {
  static const std::array<BuiltinFunction*, builtin_numbers> table = [] {
    std::array<BuiltinFunction*, builtin_numbers> made{};
    for (std::uint16_t number = 0; number < builtin_numbers; ++number) {
      const types::BuiltinInfo* const info = types::find_builtin(number);
      if (info == nullptr) continue;
      for (auto* const find : {find_text_builtin, find_list_builtin, find_map_builtin, find_number_builtin,
                               find_tools_builtin, find_other_builtin}) {
        if (made[number] == nullptr) made[number] = find(info->builtin);
      }
    }
    return made;
  }();
  return table;
}

}  // namespace

OpStatus operate_call_builtin(MachineState& state, Value* r, bytecode::Instruction i) {
  BuiltinCall call{state, {r + i.c, types::find_builtin(i.b)->argument_count}, {}, {}};
  for (const Value& argument : call.arguments) call.label = state.labels.join(call.label, argument.label());
  if (const OpStatus status = functions()[i.b](call); status != OpStatus::Ok) return status;
  if (call.label.index != 0) {
    const std::size_t deciding = types::first_deciding_argument(static_cast<types::Builtin>(i.b));
    for (const Value& argument : call.arguments.subspan(deciding)) {
      state.doubt = state.labels.join(state.doubt, argument.label());
    }
  }
  // Not `add_label`: a text that was cut out of another one keeps its spans unchanged.
  call.result.set_label(state.labels.join(call.result.label(), call.label));
  r[i.a] = std::move(call.result);
  return done(state);
}

}  // namespace tenon::vm
