#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "types/table/type_table.h"
#include "vm/request.h"
#include "vm/values/value.h"

namespace tenon::tools {

/// A prompt to an agent of the program, in an extern's words.
struct AgentPrompt {
  std::string agent;  ///< its name
  std::string input;  ///< a text type raw, the rest as JSON
  vm::SpawnedTurn::Then then = vm::SpawnedTurn::Then::Wait;
};

/// Why an extern gave no value. Goes to the program as a failure of this kind.
struct ExternError {
  types::FailureKind kind = types::FailureKind::ToolFailed;
  std::string message;  ///< UTF-8
  std::string blame;    ///< ``extern `add` of libops.so``
  /// It has not failed: it asks a person, and has to be called again with the answer.
  std::optional<std::string> question = std::nullopt;
  /// It has not failed: it prompts an agent.
  std::optional<AgentPrompt> prompt = std::nullopt;
  /// It has done nothing, because a service that it needs cannot be reached: the same call may be made again.
  bool is_unavailable = false;
};

using ExternOutcome = Result<vm::Value, ExternError>;

}  // namespace tenon::tools
