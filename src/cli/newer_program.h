#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/environment.h"
#include "cli/stored_run.h"

namespace tenon::cli {

/// A program that is to take over a conversation.
struct NewerProgram {
  std::shared_ptr<const runtime::ProgramImage> image;
  std::vector<std::string> libraries;  ///< for the record, absolute paths
};

/// The program of a file for a conversation that `stored` tells of: with the prompt templates of `prompts`, or those
/// that the conversation has, and with the libraries that are given, or the manifest's and those that the conversation
/// has. Nothing when it cannot be used, which is printed.
[[nodiscard]] std::optional<NewerProgram> load_newer(const std::string& file, const std::string& prompts,
                                                     const std::vector<std::string>& libraries, const StoredRun& stored,
                                                     const Environment& environment);

}  // namespace tenon::cli
