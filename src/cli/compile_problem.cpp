#include "cli/compile_problem.h"

#include "compiler/compile.h"
#include "diagnostics/render.h"
#include "types/check.h"

namespace tenon::cli {
namespace {

/// The files of `files`, except that one has another text.
class FilesWithText final : public FileSystem {
 public:
  FilesWithText(FileSystem& files, const std::string& path, std::string_view text)
      : files_(files), path_(path), text_(text) {}

  [[nodiscard]] Result<std::string, FileError> read_file(const std::string& path, std::size_t bytes_max) override {
    if (path != path_) return files_.read_file(path, bytes_max);
    if (text_.size() > bytes_max) return failure(FileError{"the text is too long", false, text_.size()});
    return std::string(text_);
  }

 private:
  FileSystem& files_;
  const std::string& path_;
  std::string_view text_;
};

}  // namespace

std::optional<std::string> find_compile_problem(const std::string& path, std::string_view text, FileSystem& files) {
  FilesWithText changed(files, path, text);
  types::Checked checked = types::check(path, changed, types::Strictness::Relaxed);
  if (!checked.diagnostics.has_errors()) static_cast<void>(compiler::compile(checked.program, checked.diagnostics));
  if (!checked.diagnostics.has_errors()) return std::nullopt;
  const std::vector<const source::SourceFile*> sources = checked.files();
  std::string out;
  for (const diagnostics::Diagnostic& diagnostic : checked.diagnostics.all()) {
    if (diagnostic.code.severity != diagnostics::Severity::Error) continue;
    out += diagnostics::render(diagnostic, sources, diagnostics::Colour::Off);
  }
  return out;
}

}  // namespace tenon::cli
