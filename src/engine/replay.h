#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "engine/engine_error.h"
#include "journal/store.h"
#include "runtime/recovery/recovery.h"
#include "vm/loaded_program.h"

namespace tenon::engine {

/// A run that was replayed from its journal, without effects.
struct Replayed {
  runtime::RecoveredRun run;  ///< RecoveredRun::core has the machine and its end
  /// The first difference between the journal and the replay, on one or more lines; empty if there is none.
  std::string difference;
};

/// Replays a run. `program`: a changed one, instead of all programs that the run has had; null: those programs.
[[nodiscard]] Result<Replayed, EngineError> replay(journal::Store& store, const journal::RunName& name,
                                                   std::shared_ptr<const vm::LoadedProgram> program);

}  // namespace tenon::engine
