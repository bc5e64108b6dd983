#include "cli/program_file.h"

#include <fmt/format.h>

#include "compiler/compile.h"
#include "diagnostics/render.h"
#include "inference/answers/json_values.h"

namespace tenon::cli {

void print_diagnostics(const diagnostics::Diagnostics& diagnostics, std::span<const source::SourceFile* const> files,
                       ShownDiagnostics shown, const Environment& environment) {
  const auto colour = environment.error_is_terminal ? diagnostics::Colour::On : diagnostics::Colour::Off;
  for (const diagnostics::Diagnostic& diagnostic : diagnostics.all()) {
    if (shown == ShownDiagnostics::WithoutNotes && diagnostic.code.severity == diagnostics::Severity::Note) continue;
    environment.write_styled(diagnostics::render(diagnostic, files, colour));
  }
  if (const std::size_t dropped = diagnostics.dropped_count(); dropped > 0) {
    environment.write_error(fmt::format("and {} more\n", dropped));
  }
}

void print_diagnostics(const types::Checked& checked, ShownDiagnostics shown, const Environment& environment) {
  print_diagnostics(checked.diagnostics, checked.files(), shown, environment);
}

std::shared_ptr<const vm::LoadedProgram> load_program(const std::string& path, const Environment& environment) {
  types::Checked checked = types::check(path, environment.files, types::Strictness::Relaxed);
  std::shared_ptr<const bytecode::Program> program;
  if (!checked.diagnostics.has_errors()) {
    program = std::make_shared<const bytecode::Program>(compiler::compile(checked.program, checked.diagnostics));
  }
  print_diagnostics(checked, ShownDiagnostics::WithoutNotes, environment);
  if (checked.diagnostics.has_errors()) return nullptr;
  Result<std::shared_ptr<const vm::LoadedProgram>, vm::LoadError> loaded =
      vm::LoadedProgram::load(program, inference::answers::make_json_reader);
  if (!loaded) {
    environment.write_error(fmt::format("{}: error: internal error: the compiled program is not valid: {}\n", path,
                                        loaded.error().message));
    return nullptr;
  }
  return *loaded;
}

std::optional<inference::prompting::PromptTemplates> load_prompt_templates(const std::string& style,
                                                                           const Environment& environment) {
  auto templates = inference::prompting::PromptTemplates::load(style, environment.files);
  if (templates) return std::move(*templates);
  const auto& error = templates.error();
  const std::string location = error.line > 0 ? fmt::format("{}:{}", error.file, error.line) : error.file;
  fail(fmt::format("{}: {}", location, error.message), environment);
  return std::nullopt;
}

}  // namespace tenon::cli
