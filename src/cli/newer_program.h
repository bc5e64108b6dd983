#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/environment.h"
#include "cli/stored_run.h"

namespace tenon::cli {

/// A program that a conversation is upgraded to.
struct NewerProgram {
  std::shared_ptr<const runtime::ProgramImage> image;
  std::vector<std::string> libraries;  ///< for the record, absolute paths
};

/// Loads the program of a file for the conversation `stored`: with the prompt templates of `prompts`, or those of the
/// conversation if it is empty, and with the libraries given or named in the manifest, or else those of the
/// conversation. Returns nothing after printing why it cannot be used.
[[nodiscard]] std::optional<NewerProgram> load_newer(const std::string& file, const std::string& prompts,
                                                     const std::vector<std::string>& libraries, const StoredRun& stored,
                                                     const Environment& environment);

}  // namespace tenon::cli
