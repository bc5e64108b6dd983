#include "cli/newer_program.h"

#include "cli/extern_binding.h"
#include "cli/manifest_file.h"
#include "cli/program_file.h"
#include "cli/run_setup.h"

namespace tenon::cli {

std::optional<NewerProgram> load_newer(const std::string& file, const std::string& prompts,
                                       const std::vector<std::string>& libraries, const StoredRun& stored,
                                       const Environment& environment) {
  const auto manifest = read_manifest(file, environment);
  if (!manifest) return std::nullopt;
  const auto program = load_program(file, environment);
  if (!program) return std::nullopt;
  auto templates = stored.program.templates;
  if (!prompts.empty()) {
    auto given = load_prompt_templates(prompts, environment);
    if (!given) return std::nullopt;
    templates = std::move(*given);
  }
  const bool has_libraries = !libraries.empty() || (*manifest && !library_paths({}, *manifest).empty());
  const auto& chosen = has_libraries ? libraries : stored.started.settings.libraries;
  const auto externs = bind_or_report(chosen, *manifest, *program, environment);
  if (!externs) return std::nullopt;
  return NewerProgram{std::make_shared<const runtime::ProgramImage>(program, std::move(templates), externs),
                      library_paths(chosen, *manifest)};
}

}  // namespace tenon::cli
