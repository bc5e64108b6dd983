#pragma once

#include <atomic>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "bytecode/program.h"
#include "tools/extern_error.h"
#include "types/table/type_table.h"
#include "vm/values/refinements.h"
#include "vm/values/value.h"

struct tenon_call;

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

/// Calls a function that was written with tenon/extern.h. Returns its result, which has the declared type, or why there
/// is none. Exceptions of the function are failures too. Arguments have the declared types; `blame` names the
/// extern.
[[nodiscard]] ExternOutcome call_header_function(void (*function)(tenon_call*), const vm::Refinements& refinements,
                                                 types::TypeId result, std::span<const vm::Value> arguments,
                                                 std::string_view blame, const CallCircumstances& circumstances);

}  // namespace tenon::tools
