#pragma once

#include <memory>
#include <string>

#include "base/ensure.h"
#include "compiler/compile.h"
#include "inference/answers/json_values.h"
#include "runtime/program_image.h"
#include "types/check.h"

namespace tenon::test {

/// The image of a program without externs. The program must be correct.
inline std::shared_ptr<const runtime::ProgramImage> make_image(const std::string& source) {
  class OneFile final : public FileSystem {
   public:
    explicit OneFile(const std::string& text) : text_(text) {}
    Result<std::string, FileError> read_file(const std::string& path, std::size_t /*bytes_max*/) override {
      if (path != "program.tn") return failure(FileError{"No such file or directory", true, 0});
      return text_;
    }

   private:
    const std::string& text_;
  } files(source);
  types::Checked checked = types::check("program.tn", files, types::Strictness::Relaxed);
  ENSURE(!checked.diagnostics.has_errors());
  const auto compiled =
      std::make_shared<const bytecode::Program>(compiler::compile(checked.program, checked.diagnostics));
  ENSURE(!checked.diagnostics.has_errors());
  auto loaded = vm::LoadedProgram::load(compiled, inference::answers::make_json_reader);
  ENSURE(loaded.has_value());
  return std::make_shared<const runtime::ProgramImage>(*loaded, inference::prompting::PromptTemplates::builtin(),
                                                       nullptr);
}

}  // namespace tenon::test
