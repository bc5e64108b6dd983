#include "syntax/format.h"

#include <fmt/format.h>

#include <system_error>

#include "cli/commands.h"
#include "cli/diagnostics_output.h"
#include "cli/program_files.h"
#include "cli/replace_file.h"
#include "diagnostics/render.h"
#include "syntax/parse.h"

namespace tenon::cli {
int format(const FormatCommand& command, const Environment& environment) {
  int result = exit_done;
  const auto paths = find_programs(command.files);
  if (!paths) return fail(paths.error(), environment);
  for (const std::string& path : *paths) {
    const bool is_stream = path == "-";
    auto text = is_stream ? Result<std::string, FileError>(environment.read_input())
                          : environment.system.files.read_file(path, source::source_bytes_max);
    if (text && text->size() > source::source_bytes_max)
      text = failure(FileError{"the text is too long", false, text->size()});
    if (!text) {
      result = fail_unreadable(is_stream ? "standard input" : path, text.error(), environment);
      continue;
    }
    const source::SourceFile file(source::FileId{0}, is_stream ? "standard input" : path, std::move(*text));
    diagnostics::Diagnostics diagnostics;
    const syntax::SyntaxTree tree = syntax::parse(file, diagnostics);
    if (diagnostics.has_errors()) {
      // A file with syntax errors is left unchanged.
      print_diagnostics(diagnostics, file, environment);
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
      result = fail(fmt::format("cannot write `{}`", path), environment);
    }
  }
  return result;
}

}  // namespace tenon::cli
