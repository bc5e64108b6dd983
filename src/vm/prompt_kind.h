#pragma once

#include <cstdint>

namespace tenon::vm {

/// What becomes of the turn that called an extern which prompts an agent of the program instead of returning a value.
/// The numbers are stored in journals.
enum class PromptKind : std::uint8_t {
  PauseForChild = 0,  ///< it waits: the value of the prompted agent's turn is the value of the extern
  FinishAgent = 1,    ///< it ends, and the prompted agent continues it
};

}  // namespace tenon::vm
