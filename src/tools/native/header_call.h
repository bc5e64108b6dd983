#pragma once

#include <atomic>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "bytecode/program.h"
#include "tools/extern_error.h"
#include "tools/native/promise_checker.h"
#include "types/table/type_table.h"
#include "vm/values/value.h"

struct tenon_call;

namespace tenon::tools {

/// What a call brings with it besides its arguments.
struct CallCircumstances {
  /// The effect's key, which names the call forever; may be empty. Without NUL.
  std::string_view key;
  /// What a person has answered to the question that the call before has asked.
  std::optional<std::string_view> input = std::nullopt;
  /// Set from another thread when the result is not needed any more. May be null.
  const std::atomic<bool>* is_cancelled = nullptr;
};

/// Why a function gave no value.
struct HeaderCallEnd {
  std::string message;                                 ///< of the failure
  std::optional<std::string> question = std::nullopt;  ///< it has not failed, but asks a person
  std::optional<AgentPrompt> prompt = std::nullopt;    ///< it has not failed, but prompts an agent
  bool is_unavailable = false;                         ///< as ExternError has it
};

/// Calls a function that was written with tenon/extern.h. Gives its result, which has the declared type, or why there
/// is none. Exceptions of the function are failures too. Arguments have the declared types; `blame` names the
/// extern.
[[nodiscard]] Result<vm::Value, HeaderCallEnd> call_header_function(
    void (*function)(tenon_call*), const types::TypeTable& types, const PromiseChecker& promises, types::TypeId result,
    std::span<const vm::Value> arguments, std::string_view blame, const CallCircumstances& circumstances);

}  // namespace tenon::tools
