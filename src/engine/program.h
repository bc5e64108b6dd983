#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "engine/engine_error.h"
#include "engine/extern_binding.h"
#include "engine/settings.h"
#include "engine/system.h"
#include "inference/prompting/prompt_templates.h"
#include "json/json.h"
#include "project/manifest.h"
#include "runtime/program_image.h"
#include "runtime/run_options.h"
#include "types/check.h"
#include "vm/loaded_program.h"

namespace tenon::engine {

/// The text of a program: the file at `path`, or `text` as if that file contained it. Imports are relative to `path`.
struct ProgramSource {
  /// How the places in the program's failures name its files.
  enum class Names : std::uint8_t {
    Given,   ///< by the path
    Public,  ///< as clients of a server may see them (`public_file_name`)
  };
  std::string path;
  std::optional<std::string> text = std::nullopt;
  Names names = Names::Given;
};

/// A program that was checked, compiled and verified.
struct CompiledProgram {
  std::shared_ptr<const vm::LoadedProgram> loaded;
  Problems warnings;
};
/// Fails with `Program` if the program has errors.
[[nodiscard]] Result<CompiledProgram, EngineError> compile(const ProgramSource& source, const System& system);

/// What the project of the program at `path` says of trust. A manifest with errors, which is reported where it is read,
/// says nothing.
[[nodiscard]] types::TrustPolicy trust_policy(const std::string& path, FileSystem& files);

/// The errors of a program as text; nothing if it has none.
[[nodiscard]] std::optional<std::string> find_errors(const ProgramSource& source, const System& system);

/// The errors, warnings and notes of a program, as if the file at `path` contained the text. Each as `tenon check
/// --json` prints it.
[[nodiscard]] Json diagnose(const std::string& path, const std::string& text, const System& system);

/// The `tenon.toml` of the program's project, if there is one. Fails with `Program` if it has errors.
[[nodiscard]] Result<std::optional<project::Manifest>, EngineError> read_manifest(const std::string& program_path,
                                                                                  const System& system);

/// A style's name or a folder. Fails with `Usage`.
[[nodiscard]] Result<inference::prompting::PromptTemplates, EngineError> load_prompt_templates(const std::string& style,
                                                                                               const System& system);

/// A program with its prompt templates and the settings of its runs, whose functions and agents can be started.
struct Program {
  std::shared_ptr<const runtime::ProgramImage> image;
  Settings settings;                                    ///< completed from the manifest
  runtime::RunOptions options;                          ///< of its runs
  std::optional<std::uint32_t> threads = std::nullopt;  ///< for calls of externs, from the manifest
  project::AgentPlacements placements = {};             ///< of the manifest, for agents of all its programs
  Problems warnings = {};

  [[nodiscard]] const bytecode::Program& code() const { return image->program(); }
};
/// Loads the prompt templates and binds the externs. Completes `settings` from the manifest.
[[nodiscard]] Result<Program, EngineError> prepare(CompiledProgram compiled, Settings settings,
                                                   const std::optional<project::Manifest>& manifest,
                                                   const System& system);

/// Reads the manifest, compiles the program and prepares it.
[[nodiscard]] Result<Program, EngineError> load(const ProgramSource& source, const Settings& settings,
                                                const System& system);

/// The same without binding externs: for what starts runs that others continue, or only looks at the program.
[[nodiscard]] Result<Program, EngineError> load_unbound(const ProgramSource& source, Settings settings,
                                                        const System& system);

/// An image without externs, whose native functions cannot be called, for what performs no effects.
[[nodiscard]] std::shared_ptr<const runtime::ProgramImage> make_image(std::shared_ptr<const vm::LoadedProgram> program,
                                                                      inference::prompting::PromptTemplates templates);

/// Binds the externs of a program. Fails with `Program`.
[[nodiscard]] Result<std::shared_ptr<const runtime::ProgramImage>, EngineError> make_bound_image(
    std::shared_ptr<const vm::LoadedProgram> program, inference::prompting::PromptTemplates templates,
    const ExternSources& externs, const std::optional<project::Manifest>& manifest, const System& system);

}  // namespace tenon::engine
