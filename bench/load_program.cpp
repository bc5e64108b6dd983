#include "bench/load_program.h"

#include <cstdio>
#include <cstdlib>

#include "base/file_system.h"
#include "compiler/compile.h"
#include "types/check.h"

namespace tenon::bench {

void stop(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(1);
}

std::shared_ptr<const vm::LoadedProgram> load_program(const std::string& path) {
  RealFileSystem files;
  types::Checked checked = types::check(path, files, types::Strictness::Strict);
  if (checked.diagnostics.has_errors()) stop(path + " has errors; `tenon check --strict` shows them");
  auto program = std::make_shared<const bytecode::Program>(compiler::compile(checked.program, checked.diagnostics));
  if (checked.diagnostics.has_errors()) stop(path + " cannot be compiled");
  auto loaded = vm::LoadedProgram::load(std::move(program));
  if (!loaded) stop(loaded.error().message);
  return *loaded;
}

}  // namespace tenon::bench
