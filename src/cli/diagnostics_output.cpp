#include "cli/diagnostics_output.h"

#include <fmt/format.h>

#include "diagnostics/render.h"

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

void print_diagnostics(diagnostics::Diagnostics& diagnostics, const source::SourceFile& file,
                       const Environment& environment) {
  diagnostics.sort();
  const source::SourceFile* const files[] = {&file};
  print_diagnostics(diagnostics, files, ShownDiagnostics::All, environment);
}

void print_diagnostics(const types::Checked& checked, ShownDiagnostics shown, const Environment& environment) {
  print_diagnostics(checked.diagnostics, checked.files(), shown, environment);
}

int fail_unreadable(const std::string& path, const FileError& error, const Environment& environment) {
  diagnostics::Diagnostics diagnostics;
  types::report_unreadable(path, error, diagnostics);
  print_diagnostics(diagnostics, {}, ShownDiagnostics::All, environment);
  return exit_failed;
}

}  // namespace tenon::cli
