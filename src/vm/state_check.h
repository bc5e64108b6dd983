#pragma once

#include <string>

#include "base/result.h"
#include "vm/machine_state.h"

namespace tenon::vm {

struct StateError {
  std::string message;
};

/// Whether the parts of a decoded state make a run: frames stand where calls are, scopes and branches form trees,
/// queues hold what can run. Fills in what follows from the rest.
[[nodiscard]] Result<void, StateError> check_state(MachineState& state);

}  // namespace tenon::vm
