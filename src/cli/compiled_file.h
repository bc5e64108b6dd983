#pragma once

#include <optional>
#include <string>

#include "cli/environment.h"
#include "engine/program.h"

namespace tenon::cli {

/// A program's file, compiled, with the manifest of its project.
struct CompiledFile {
  engine::CompiledProgram program;
  std::optional<project::Manifest> manifest;
};
/// Prints the warnings. Fails with the exit code after printing the errors.
[[nodiscard]] Result<CompiledFile, int> compile_file(const std::string& path, const Environment& environment);

}  // namespace tenon::cli
