#include "cli/commands.h"

#include <fmt/format.h>

#include <memory>

#include "cli/diagnostics_output.h"
#include "cli/engine_report.h"
#include "compiler/compile.h"
#include "diagnostics/render.h"
#include "engine/extern_binding.h"

namespace tenon::cli {

int check(const CheckCommand& command, const Environment& environment) {
  bool failed = false;
  for (const std::string& path : command.files) {
    types::Checked checked =
        types::check(path, environment.files, command.strict ? types::Strictness::Strict : types::Strictness::Relaxed);
    // The compiler checks the limits of a program that has no other errors.
    if (!checked.diagnostics.has_errors()) {
      auto program = std::make_shared<bytecode::Program>(compiler::compile(checked.program, checked.diagnostics));
      if (!checked.diagnostics.has_errors() && !command.externs.empty()) {
        engine::check_externs(checked, std::move(program), command.externs, make_system(environment));
      }
    }
    failed = failed || checked.diagnostics.has_errors();
    if (!command.json) {
      print_diagnostics(checked, ShownDiagnostics::All, environment);
      continue;
    }
    const std::vector<const source::SourceFile*> files = checked.files();
    for (const diagnostics::Diagnostic& diagnostic : checked.diagnostics.all()) {
      environment.write_output(diagnostics::render_json(diagnostic, files) + "\n");
    }
  }
  return failed ? exit_failed : exit_done;
}

}  // namespace tenon::cli
