#include "engine/newer_program.h"

namespace tenon::engine {

Result<NewerProgram, EngineError> load_newer(const std::string& file, const std::string& prompts,
                                             const std::vector<std::string>& libraries, const StoredRun& stored,
                                             const System& system) {
  const auto manifest = read_manifest(file, system);
  if (!manifest) return failure(manifest.error());
  auto compiled = compile({file}, system);
  if (!compiled) return failure(std::move(compiled.error()));
  auto templates = stored.program.templates;
  if (!prompts.empty()) {
    auto given = load_prompt_templates(prompts, system);
    if (!given) return failure(std::move(given.error()));
    templates = std::move(*given);
  }
  const bool has_libraries = !libraries.empty() || (*manifest && !library_paths({}, *manifest).empty());
  const auto& chosen = has_libraries ? libraries : stored.started.settings.libraries;
  auto image = make_bound_image(std::move(compiled->loaded), std::move(templates), {chosen}, *manifest, system);
  if (!image) return failure(std::move(image.error()));
  return NewerProgram{std::move(*image), library_paths(chosen, *manifest), std::move(compiled->warnings)};
}

}  // namespace tenon::engine
