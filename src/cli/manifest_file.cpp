#include "cli/manifest_file.h"

#include <fmt/format.h>

#include <filesystem>

namespace tenon::cli {

std::optional<std::optional<project::Manifest>> read_manifest(const std::string& program_path,
                                                              const Environment& environment) {
  const std::string absolute = std::filesystem::absolute(program_path).lexically_normal().string();
  auto manifest = project::find_manifest(environment.files, absolute);
  if (manifest) return std::move(*manifest);
  for (const project::ManifestProblem& problem : manifest.error().problems) {
    environment.write_error(
        fmt::format("{}:{}:{}: error: {}\n", manifest.error().path, problem.line, problem.column, problem.message));
    for (const std::string& hint : problem.hints) environment.write_error(fmt::format("  = hint: {}\n", hint));
  }
  return std::nullopt;
}

}  // namespace tenon::cli
