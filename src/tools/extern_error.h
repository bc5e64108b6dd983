#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "effects/agent_prompt.h"
#include "types/table/type_table.h"
#include "vm/values/value.h"

namespace tenon::tools {

/// Why an extern did not return a value. The program gets a failure of this kind.
struct ExternError {
  types::FailureKind kind = types::FailureKind::ToolFailed;
  std::string message;  ///< UTF-8
  std::string blame;    ///< ``extern `add` of libops.so``
  /// It has not failed: it asks a person, and has to be called again with the answer.
  std::optional<std::string> question = std::nullopt;
  /// It has not failed: it prompts an agent.
  std::optional<effects::AgentPrompt> prompt = std::nullopt;
  /// It has done nothing, because a service that it needs cannot be reached: the same call may be made again.
  bool is_unavailable = false;
  /// Its work was interrupted: it may have been done or not.
  bool is_interrupted = false;
};

using ExternOutcome = Result<vm::Value, ExternError>;

}  // namespace tenon::tools
