#include "engine/engine_error.h"

#include <fmt/format.h>

#include "diagnostics/render.h"

namespace tenon::engine {

std::string describe(const EngineError& error) {
  std::string text;
  if (!error.message.empty()) {
    text =
        error.setting.empty() ? error.message : fmt::format("invalid value for `{}`: {}", error.setting, error.message);
  }
  for (const Problem& problem : error.problems.list) text += (text.empty() ? "" : "\n") + problem.text;
  if (error.problems.left_out > 0) text += fmt::format("and {} more", error.problems.left_out);
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

Problems problems_of(const types::Checked& checked) {
  Problems problems;
  const std::vector<const source::SourceFile*> files = checked.files();
  for (const diagnostics::Diagnostic& diagnostic : checked.diagnostics.all()) {
    if (diagnostic.code.severity == diagnostics::Severity::Note) continue;
    Problem& problem = problems.list.emplace_back();
    problem.severity = diagnostic.code.severity;
    problem.code = diagnostic.code.text();
    problem.message = diagnostic.message;
    if (diagnostic.span.file.exists()) {
      const source::SourceFile& file = *files[diagnostic.span.file.index];
      const source::Position start = file.position(diagnostic.span.offset);
      problem.path = file.path();
      problem.line = start.line;
      problem.column = start.column;
    }
    problem.text = diagnostics::render(diagnostic, files, diagnostics::Colour::Off);
    problem.styled = diagnostics::render(diagnostic, files, diagnostics::Colour::On);
  }
  problems.left_out = checked.diagnostics.dropped_count();
  return problems;
}

Problems problems_of(const project::ManifestError& manifest) {
  Problems problems;
  for (const project::ManifestProblem& found : manifest.problems) {
    Problem& problem = problems.list.emplace_back();
    problem.message = found.message;
    problem.path = manifest.path;
    problem.line = found.line;
    problem.column = found.column;
    problem.text = fmt::format("{}:{}:{}: error: {}\n", manifest.path, found.line, found.column, found.message);
    for (const std::string& hint : found.hints) problem.text += fmt::format("  = hint: {}\n", hint);
  }
  return problems;
}

Problems problems_of(std::span<const tools::ExternProblem> externs, const vm::LoadedProgram& program) {
  Problems problems;
  for (const tools::ExternProblem& found : externs) {
    Problem& problem = problems.list.emplace_back();
    problem.severity = found.code.severity;
    problem.code = found.code.text();
    problem.message = found.message;
    std::string location;
    if (found.place) {
      location = program.describe(*found.place) + ": ";
      problem.path = program.program().sources[found.place->file].path;
      problem.line = found.place->line;
      problem.column = found.place->column;
    }
    problem.text = location + diagnostics::render(found, {}, diagnostics::Colour::Off);
    problem.styled = location + diagnostics::render(found, {}, diagnostics::Colour::On);
  }
  return problems;
}

}  // namespace tenon::engine
