#include "engine/stored_program.h"

#include "engine/program.h"

namespace tenon::engine {
namespace {

Result<NewerProgram, EngineError> load_newer(const StoredRun& stored, const StoredProgramChoice& choice,
                                             const System& system) {
  const auto manifest = read_manifest(choice.newer, system);
  if (!manifest) return failure(manifest.error());
  auto compiled = compile({choice.newer}, system);
  if (!compiled) return failure(std::move(compiled.error()));
  auto templates = stored.program.templates;
  if (!choice.prompts.empty()) {
    auto given = load_prompt_templates(choice.prompts, system);
    if (!given) return failure(std::move(given.error()));
    templates = std::move(*given);
  }
  ExternSources externs = choice.externs;
  const bool has_libraries = !externs.libraries.empty() || (*manifest && !library_paths({}, *manifest).empty());
  if (!has_libraries) externs.libraries = stored.started.settings.libraries;
  auto image = make_bound_image(std::move(compiled->loaded), std::move(templates), externs, *manifest, system);
  if (!image) return failure(std::move(image.error()));
  return NewerProgram{std::move(*image), library_paths(externs.libraries, *manifest), std::move(compiled->warnings)};
}

}  // namespace

Result<StoredProgram, EngineError> load_stored_program(const StoredRun& stored, const StoredProgramChoice& choice,
                                                       const System& system) {
  if (!choice.newer.empty()) {
    auto newer = load_newer(stored, choice, system);
    if (!newer) return failure(std::move(newer.error()));
    auto image = make_image(stored.program.loaded, stored.program.templates);
    if (newer->image->hash() == image->hash()) image = newer->image;
    return StoredProgram{std::move(image), std::move(*newer)};
  }
  if (stored.is_over) return StoredProgram{make_image(stored.program.loaded, stored.program.templates)};
  ExternSources externs = choice.externs;
  if (externs.libraries.empty()) externs.libraries = stored.started.settings.libraries;
  auto bound = make_bound_image(stored.program.loaded, stored.program.templates, externs, std::nullopt, system);
  if (!bound) return failure(std::move(bound.error()));
  return StoredProgram{std::move(*bound)};
}

}  // namespace tenon::engine
