#include "tests/support/program_image.h"

#include <cstdio>
#include <cstdlib>

#include "base/ensure.h"
#include "compiler/compile.h"
#include "diagnostics/render.h"
#include "inference/answers/json_values.h"
#include "tests/support/one_file.h"
#include "types/check.h"

namespace tenon::test {

std::shared_ptr<const runtime::ProgramImage> make_image(const std::string& text) {
  OneFile file(text);
  types::Checked checked = types::check("program.tn", file, types::Strictness::Relaxed);
  std::shared_ptr<const bytecode::Program> program;
  if (!checked.diagnostics.has_errors()) {
    program = std::make_shared<const bytecode::Program>(compiler::compile(checked.program, checked.diagnostics));
  }
  if (checked.diagnostics.has_errors()) {
    for (const diagnostics::Diagnostic& diagnostic : checked.diagnostics.all()) {
      std::fputs(diagnostics::render(diagnostic, checked.files(), diagnostics::Colour::Off).c_str(), stderr);
    }
    std::fputs(text.c_str(), stderr);
    std::abort();
  }
  auto loaded = vm::LoadedProgram::load(program, inference::answers::make_json_reader);
  if (!loaded) std::fprintf(stderr, "%s\n%s\n", loaded.error().message.c_str(), text.c_str());
  ENSURE(loaded.has_value());
  return std::make_shared<const runtime::ProgramImage>(*loaded, inference::prompting::PromptTemplates::builtin(),
                                                       nullptr);
}

}  // namespace tenon::test
