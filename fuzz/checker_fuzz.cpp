// Arbitrary text through checker, compiler and verifier: the machine can run every program without errors.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/ensure.h"
#include "base/file_system.h"
#include "bytecode/verifier.h"
#include "compiler/compile.h"
#include "diagnostics/render.h"
#include "types/check.h"

namespace {

/// Contains only the entry file.
class OneFile final : public tenon::FileSystem {
 public:
  explicit OneFile(std::string text) : text_(std::move(text)) {}
  tenon::Result<std::string, tenon::FileError> read_file(const std::string& path, std::size_t) override {
    if (path != "fuzz.tn") return tenon::failure(tenon::FileError{"there is no such file", true, 0});
    return text_;
  }

 private:
  std::string text_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tenon;
  OneFile files(std::string(reinterpret_cast<const char*>(data), size));
  types::Checked checked = types::check("fuzz.tn", files, types::Strictness::Relaxed);
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
