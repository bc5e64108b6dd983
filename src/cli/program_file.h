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

/// Prints them to stderr; how many there were beyond the limit too.
void print_diagnostics(const diagnostics::Diagnostics& diagnostics, std::span<const source::SourceFile* const> files,
                       ShownDiagnostics shown, const Environment& environment);
void print_diagnostics(const types::Checked& checked, ShownDiagnostics shown, const Environment& environment);

/// The program in `path`, checked, compiled and verified. What is wrong is printed; nothing when there are errors.
[[nodiscard]] std::shared_ptr<const vm::LoadedProgram> load_program(const std::string& path,
                                                                    const Environment& environment);

/// The prompt templates of `--prompts`: a style's name or a folder. Prints what is wrong; nothing if they cannot be
/// used, which is the command line's fault.
[[nodiscard]] std::optional<inference::prompting::PromptTemplates> load_prompt_templates(
    const std::string& style, const Environment& environment);

}  // namespace tenon::cli
