#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "types/type_table.h"
#include "vm/value.h"

namespace tenon::tools {

/// Why an extern gave no value. Goes to the program as a failure of this kind.
struct ExternError {
  types::FailureKind kind = types::FailureKind::ToolFailed;
  std::string message;  ///< UTF-8
  std::string blame;    ///< ``extern `add` of libops.so``
  /// It has not failed: it asks a person, and wants to be called again with the answer.
  std::optional<std::string> question = std::nullopt;
};

using ExternOutcome = Result<vm::Value, ExternError>;

}  // namespace tenon::tools
