#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/engine_error.h"
#include "engine/extern_binding.h"
#include "engine/stored_run.h"
#include "engine/system.h"
#include "runtime/program_image.h"

namespace tenon::engine {

/// Which program a run of the store continues with.
struct StoredProgramChoice {
  ExternSources externs;     ///< without libraries: those of the run
  std::string newer = {};    ///< the file of a program that the run is upgraded to; empty: none
  std::string prompts = {};  ///< the newer program's, as in Settings; empty: those of the run
};

/// A program that a run is upgraded to.
struct NewerProgram {
  std::shared_ptr<const runtime::ProgramImage> image;
  std::vector<std::string> libraries;  ///< for the record, absolute paths
  Problems warnings = {};
};

/// What a run of the store continues with.
struct StoredProgram {
  std::shared_ptr<const runtime::ProgramImage> image;  ///< the run's; `newer.image` if it is the same program
  NewerProgram newer = {};                             ///< without an image: none was chosen
};

/// Loads the program of a run. Its externs are not bound if the run has ended, or if it is upgraded: then only the
/// newer program calls externs. The newer program's libraries are those given or named in its manifest, or else those
/// of the run.
[[nodiscard]] Result<StoredProgram, EngineError> load_stored_program(const StoredRun& stored,
                                                                     const StoredProgramChoice& choice,
                                                                     const System& system);

}  // namespace tenon::engine
