#pragma once

#include <span>

#include "types/builtins.h"
#include "vm/machine_state.h"

namespace tenon::vm {

/// A call of a built-in. `arguments` have any tags.
struct BuiltinCall {
  MachineState& state;
  std::span<const Value> arguments;
  /// The join of the arguments' own labels; the result gets it.
  LabelId label;
  Value result;
};

/// Does nothing but compute `call.result`, whose label may be left out, and add the work where it is more than an
/// instruction's.
using BuiltinFunction = OpStatus(BuiltinCall& call);

// By receiver, each in its own file. Null when the built-in is not of that receiver.
[[nodiscard]] BuiltinFunction* find_text_builtin(types::Builtin builtin);
[[nodiscard]] BuiltinFunction* find_list_builtin(types::Builtin builtin);
[[nodiscard]] BuiltinFunction* find_map_builtin(types::Builtin builtin);
[[nodiscard]] BuiltinFunction* find_number_builtin(types::Builtin builtin);
[[nodiscard]] BuiltinFunction* find_tools_builtin(types::Builtin builtin);
[[nodiscard]] BuiltinFunction* find_other_builtin(types::Builtin builtin);

}  // namespace tenon::vm
