#pragma once

#include <string>

#include "base/result.h"
#include "vm/machine_state.h"

namespace tenon::vm {

struct StateError {
  std::string message;
};

/// Whether the parts of a decoded state form a valid run: frames are at calls, scopes and branches form trees, queues
/// contain only what can run. Fills in everything that can be derived.
[[nodiscard]] Result<void, StateError> check_state(MachineState& state);

}  // namespace tenon::vm
