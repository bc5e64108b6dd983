#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command_line.h"
#include "cli/environment.h"
#include "project/manifest.h"
#include "runtime/run_options.h"

/// What the command line and the project's manifest together say of a program's runs.
namespace tenon::cli {

/// What the command line does not say, the manifest does.
void apply_manifest(const project::Manifest& manifest, RunCommand& command);

[[nodiscard]] runtime::RunOptions run_options(const RunCommand& command,
                                              const std::optional<project::Manifest>& manifest);

}  // namespace tenon::cli
