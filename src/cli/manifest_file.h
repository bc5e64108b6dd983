#pragma once

#include <optional>
#include <string>

#include "cli/environment.h"
#include "project/manifest.h"

namespace tenon::cli {

/// The tenon.toml of a program's project, if there is one. Returns nothing after printing what is wrong with it.
[[nodiscard]] std::optional<std::optional<project::Manifest>> read_manifest(const std::string& program_path,
                                                                            const Environment& environment);

}  // namespace tenon::cli
