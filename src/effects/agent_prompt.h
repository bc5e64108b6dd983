#pragma once

#include <string>

#include "vm/prompt_kind.h"

namespace tenon::effects {

/// A prompt by an extern to an agent of the program, in text. For the machine: vm::SpawnedTurn.
struct AgentPrompt {
  std::string agent;  ///< its name
  /// Of the extern: a text type raw, the rest as JSON. In an outcome: JSON (effects/value_form.h).
  std::string input;
  vm::PromptKind kind = vm::PromptKind::PauseForChild;
  friend bool operator==(const AgentPrompt&, const AgentPrompt&) = default;
};

}  // namespace tenon::effects
