// Arbitrary text through checker, compiler and verifier: the machine can run every program without errors.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/ensure.h"
#include "bytecode/verifier.h"
#include "compiler/compile.h"
#include "diagnostics/render.h"
#include "tests/support/one_file.h"
#include "types/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tenon;
  test::OneFile files(std::string(reinterpret_cast<const char*>(data), size));
  types::Checked checked = types::check("program.tn", files, types::Strictness::Relaxed);
  if (!checked.diagnostics.has_errors()) {
    const bytecode::Program program = compiler::compile(checked.program, checked.diagnostics);
    if (!checked.diagnostics.has_errors()) ENSURE(bytecode::verify(program).has_value());
  }
  const std::vector<const source::SourceFile*> sources = checked.files();
  for (const diagnostics::Diagnostic& diagnostic : checked.diagnostics.all()) {
    ENSURE(!diagnostics::render(diagnostic, sources, diagnostics::Colour::Off).empty());
  }
  return 0;
}
