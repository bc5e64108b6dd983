#include "cli/stored_run.h"

#include <fmt/format.h>

#include "runtime/recovery.h"

namespace tenon::cli {

std::optional<StoredRun> read_run(journal::Store& store, const journal::RunName& run, const Environment& environment) {
  const auto tell = [&](std::string_view message) {
    environment.write_error(fmt::format("tenon: {}\n", message));
    return std::nullopt;
  };
  auto head = store.head(run);
  if (!head) return tell(head.error().message);
  if (head->summary.state == journal::RunState::Forgotten) {
    return tell(fmt::format("run {} was forgotten: its contents are gone", run.text));
  }
  const auto started = runtime::read_started(store, run);
  if (!started) return tell(started.error().message);
  const auto bundle = store.content(started->program);
  if (!bundle) return tell(bundle.error().message);
  auto program = runtime::read_bundle(*bundle);
  if (!program) return tell(program.error().message);
  return StoredRun{*started, std::move(*program)};
}

}  // namespace tenon::cli
