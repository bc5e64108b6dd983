#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/engine_error.h"
#include "engine/program.h"
#include "engine/stored_run.h"
#include "engine/system.h"

namespace tenon::engine {

/// A program that a conversation is upgraded to.
struct NewerProgram {
  std::shared_ptr<const runtime::ProgramImage> image;
  std::vector<std::string> libraries;  ///< for the record, absolute paths
  Problems warnings = {};
};

/// Loads the program of a file for the conversation `stored`: with the prompt templates of `prompts`, or those of the
/// conversation if it is empty, and with the libraries given or named in the manifest, or else those of the
/// conversation.
[[nodiscard]] Result<NewerProgram, EngineError> load_newer(const std::string& file, const std::string& prompts,
                                                           const std::vector<std::string>& libraries,
                                                           const StoredRun& stored, const System& system);

}  // namespace tenon::engine
