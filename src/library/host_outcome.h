#pragma once

#include <optional>

#include "base/result.h"
#include "engine/engine.h"
#include "engine/engine_error.h"
#include "journal/store.h"
#include "library/host_state.h"

namespace tenon::library {

/// How a run has ended, or the newest turn of a conversation that waits for a prompt; nothing if it has not. `store` is
/// the host's connection for reading.
[[nodiscard]] Result<std::optional<engine::RunResult>, engine::EngineError> read_outcome(HostState& host,
                                                                                         journal::Store& store,
                                                                                         const journal::RunName& run);

}  // namespace tenon::library
