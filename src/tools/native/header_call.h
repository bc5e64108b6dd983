#pragma once

#include <tenon/extern.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "bytecode/program.h"
#include "effects/effect.h"
#include "tools/extern_error.h"
#include "tools/native/result_slots.h"
#include "types/table/type_table.h"
#include "vm/values/refinements.h"
#include "vm/values/value.h"

namespace tenon::tools {

/// The inputs of a call besides its arguments.
struct CallCircumstances {
  /// The effect's key, which names the call forever; may be empty. Without NUL.
  std::string_view key;
  /// A person's answer to the question of the previous call.
  std::optional<std::string_view> input = std::nullopt;
  /// Set from another thread when the result is no longer needed. May be null.
  const std::atomic<bool>* is_cancelled = nullptr;
};

/// Who a call belongs to, and so what may be done with it.
enum class CallOwner : std::uint8_t {
  Library,   ///< a function of a library performs it
  Provided,  ///< a function of the embedding program performs it: see tools/provided_functions.h
  Caller,    ///< the embedding program makes it
};

/// What a `tenon_call*` points to: values to read, and slots for values to write. Views are valid while it exists.
class HeaderCall final : public tenon_call {
 public:
  /// A call of an extern.
  HeaderCall(const vm::Refinements& refinements, types::TypeId result, std::span<const vm::Value> arguments,
             std::string_view blame, const CallCircumstances& circumstances);
  /// The arguments of a function that a host starts, to be written.
  HeaderCall(const vm::Refinements& refinements, const bytecode::Function& function);
  HeaderCall(const HeaderCall&) = delete;
  HeaderCall& operator=(const HeaderCall&) = delete;

  [[nodiscard]] static HeaderCall& of(tenon_call* call) { return *static_cast<HeaderCall*>(call); }

  /// The outcome of an extern that has returned. `blame` names it.
  [[nodiscard]] ExternOutcome finish(std::string_view blame);

  const types::TypeTable& types;
  std::span<const vm::Value> arguments;
  std::string key;  ///< with a NUL after it
  const std::atomic<bool>* cancelled = nullptr;
  std::optional<std::string_view> input;
  /// The newest of what was said instead of a result.
  std::optional<std::string> question;
  std::optional<effects::AgentPrompt> prompt;
  bool is_unavailable = false;  ///< the first failure is that a service cannot be reached
  bool is_interrupted = false;  ///< the first failure is that the work was interrupted
  ResultSlots slots;
  std::deque<std::string> texts;  ///< that were made for the caller, and are valid as long as the call
  CallOwner owner = CallOwner::Library;
  void* host = nullptr;  ///< the owner's object; null for a library
};

/// The address of a handle's object, and back. The handles' types are never defined.
[[nodiscard]] inline tenon_slot* handle_of(Slot* slot) {
  return reinterpret_cast<tenon_slot*>(slot);
}
[[nodiscard]] inline const tenon_value* handle_of(const vm::Value* value) {
  return reinterpret_cast<const tenon_value*>(value);
}

/// Calls a function that was written with tenon/extern.h. Returns its result, which has the declared type, or why there
/// is none. Exceptions of the function are failures too. Arguments have the declared types; `blame` names the
/// extern.
[[nodiscard]] ExternOutcome call_header_function(void (*function)(tenon_call*), const vm::Refinements& refinements,
                                                 types::TypeId result, std::span<const vm::Value> arguments,
                                                 std::string_view blame, const CallCircumstances& circumstances);

}  // namespace tenon::tools
