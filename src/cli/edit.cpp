#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/diagnostics_output.h"
#include "cli/engine_report.h"
#include "cli/replace_file.h"
#include "engine/program.h"
#include "graph/edit_json.h"
#include "source/source_file.h"
#include "syntax/parse.h"

namespace tenon::cli {
namespace {

/// Edits may contain a program's text.
constexpr std::size_t edits_bytes_max = 2 * source::source_bytes_max;

std::string describe(const graph::Refusal& refusal) {
  return (refusal.edit ? fmt::format("edit {}: ", *refusal.edit) : std::string()) + refusal.reason;
}

}  // namespace

int edit(const EditCommand& command, const Environment& environment) {
  const auto text = environment.system.files.read_file(command.file, source::source_bytes_max);
  if (!text) return fail_unreadable(command.file, text.error(), environment);
  const auto json = command.edits == "-" ? Result<std::string, FileError>(environment.read_input())
                                         : environment.system.files.read_file(command.edits, edits_bytes_max);
  if (!json) return fail(fmt::format("cannot read `{}`: {}", command.edits, json.error().message), environment);
  const auto edits = graph::read_edits(*json);
  if (!edits) {
    return fail(fmt::format("invalid edits in `{}`, nothing was changed: {}", command.edits, describe(edits.error())),
                environment);
  }
  const auto edited = graph::apply_edits(*text, *edits, [&](std::string_view changed) {
    return engine::find_errors({command.file, std::string(changed)}, environment.system);
  });
  if (!edited && edited.error().reason.find('\n') != std::string::npos) {
    // The diagnostics of the changed program, as `check` prints them.
    environment.write_error(edited.error().reason);
    return fail(fmt::format("cannot edit `{}`, nothing was changed: the edited program has errors", command.file),
                environment);
  }
  if (!edited) {
    graph::Refusal refusal = edited.error();
    const source::SourceFile file(source::FileId{0}, command.file, refusal.text);
    diagnostics::Diagnostics diagnostics;
    static_cast<void>(syntax::parse(file, diagnostics));
    print_diagnostics(diagnostics, file, environment);
    if (diagnostics.has_errors()) {
      const bool is_own = refusal.text == *text;
      if (is_own) refusal.edit = std::nullopt;
      refusal.reason = is_own ? "the program has errors" : "the edited program has errors";
    }
    return fail(fmt::format("cannot edit `{}`, nothing was changed: {}", command.file, describe(refusal)), environment);
  }
  if (!command.inverse.empty() && !replace_file(command.inverse, graph::to_json(edited->inverse) + "\n")) {
    return fail(fmt::format("cannot write `{}`", command.inverse), environment);
  }
  if (command.dry_run) {
    environment.write_output(edited->text);
  } else if (edited->text != *text && !replace_file(command.file, edited->text)) {
    return fail(fmt::format("cannot write `{}`", command.file), environment);
  }
  return exit_done;
}

}  // namespace tenon::cli
