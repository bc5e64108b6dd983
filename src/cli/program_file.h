#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "cli/environment.h"
#include "inference/prompting/prompt_templates.h"
#include "types/check.h"
#include "vm/loaded_program.h"

namespace tenon::cli {

enum class ShownDiagnostics : std::uint8_t { All, WithoutNotes };

/// Prints the diagnostics to stderr, and the number of those beyond the limit.
void print_diagnostics(const diagnostics::Diagnostics& diagnostics, std::span<const source::SourceFile* const> files,
                       ShownDiagnostics shown, const Environment& environment);
void print_diagnostics(const types::Checked& checked, ShownDiagnostics shown, const Environment& environment);

/// Checks, compiles and verifies the program in `path`. Returns null after printing its errors.
[[nodiscard]] std::shared_ptr<const vm::LoadedProgram> load_program(const std::string& path,
                                                                    const Environment& environment);

/// The prompt templates of `--prompts`: the name of a style or a folder. Returns nothing after printing why they cannot
/// be used; the exit code is then exit_usage.
[[nodiscard]] std::optional<inference::prompting::PromptTemplates> load_prompt_templates(
    const std::string& style, const Environment& environment);

}  // namespace tenon::cli
