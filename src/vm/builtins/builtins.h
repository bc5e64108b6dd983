#pragma once

#include <span>

#include "types/builtins.h"
#include "vm/machine_state.h"

namespace tenon::vm {

/// A call of a built-in. `arguments` can have any tags.
struct BuiltinCall {
  MachineState& state;
  std::span<const Value> arguments;
  /// The join of the arguments' own labels; the result gets it.
  LabelId label;
  Value result;
};

/// Only computes `call.result`, whose label may be left out, and adds the cost if it is more than that of an
/// instruction.
using BuiltinFunction = OpStatus(BuiltinCall& call);

// By receiver, each in its own file. Null if the built-in has another receiver.
[[nodiscard]] BuiltinFunction* find_text_builtin(types::Builtin builtin);
[[nodiscard]] BuiltinFunction* find_list_builtin(types::Builtin builtin);
[[nodiscard]] BuiltinFunction* find_map_builtin(types::Builtin builtin);
[[nodiscard]] BuiltinFunction* find_number_builtin(types::Builtin builtin);
[[nodiscard]] BuiltinFunction* find_tools_builtin(types::Builtin builtin);
[[nodiscard]] BuiltinFunction* find_other_builtin(types::Builtin builtin);

}  // namespace tenon::vm
