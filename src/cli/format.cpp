#include "syntax/format.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <system_error>

#include "cli/commands.h"
#include "diagnostics/render.h"
#include "syntax/parse.h"

namespace tenon::cli {
namespace {

/// Writes beside the file and renames, so that a crash leaves the old text or the new one.
bool replace_file(const std::string& path, const std::string& text) {
  const std::string beside = path + ".tenon-fmt";
  std::FILE* file = std::fopen(beside.c_str(), "wb");
  if (file == nullptr) return false;
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size() && std::fflush(file) == 0 &&
                       ::fsync(::fileno(file)) == 0;
  const bool closed = std::fclose(file) == 0;
  if (written && closed && std::rename(beside.c_str(), path.c_str()) == 0) return true;
  std::remove(beside.c_str());
  return false;
}

}  // namespace

int format(const FormatCommand& command, const Environment& environment) {
  int result = exit_done;
  for (const std::string& path : command.files) {
    const bool is_stream = path == "-";
    auto text = is_stream ? Result<std::string, FileError>(environment.read_input())
                          : environment.files.read_file(path, source::source_bytes_max);
    if (text && text->size() > source::source_bytes_max)
      text = failure(FileError{"it is too long", false, text->size()});
    if (!text) {
      environment.write_error(fmt::format("tenon: {}: {}\n", path, text.error().message));
      result = exit_failed;
      continue;
    }
    const source::SourceFile file(source::FileId{0}, is_stream ? "standard input" : path, std::move(*text));
    diagnostics::Diagnostics diagnostics;
    const syntax::SyntaxTree tree = syntax::parse(file, diagnostics);
    if (diagnostics.has_errors()) {
      // A file that is not understood is left as it is.
      const source::SourceFile* const files[] = {&file};
      const auto colour = environment.error_is_terminal ? diagnostics::Colour::On : diagnostics::Colour::Off;
      for (const auto& diagnostic : diagnostics.all())
        environment.write_error(diagnostics::render(diagnostic, files, colour));
      result = exit_failed;
      continue;
    }
    const std::string formatted = syntax::format(tree);
    if (command.check) {
      if (formatted == file.text()) continue;
      environment.write_output(path + "\n");
      result = exit_failed;
    } else if (is_stream) {
      environment.write_output(formatted);
    } else if (formatted != file.text() && !replace_file(path, formatted)) {
      environment.write_error(fmt::format("tenon: {}: it cannot be written\n", path));
      result = exit_failed;
    }
  }
  return result;
}

}  // namespace tenon::cli
