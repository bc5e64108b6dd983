#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command_line.h"
#include "cli/environment.h"
#include "project/manifest.h"
#include "runtime/run_options.h"

/// The settings of a program's runs, from the command line and the project's manifest.
namespace tenon::cli {

/// Fills in the settings that the command line leaves out from the manifest.
void apply_manifest(const project::Manifest& manifest, RunCommand& command);

[[nodiscard]] runtime::RunOptions run_options(const RunCommand& command,
                                              const std::optional<project::Manifest>& manifest);

}  // namespace tenon::cli
