#include "cli/stopping.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <map>

namespace tenon::cli {
namespace {

/// Added to the grace time, for the work that remains after it.
constexpr std::chrono::seconds end_margin{2};
/// The names of externs in a message.
constexpr std::size_t shown_names_max = 5;

/// `` `charge` (2), `ship` and the model``
std::string describe(const runtime::EffectsInProgress& effects) {
  std::map<std::string, std::size_t> counts;
  for (const std::string& name : effects.externs) ++counts[name];
  std::vector<std::string> parts;
  for (const auto& [name, count] : counts) {
    if (parts.size() == shown_names_max) break;
    parts.push_back(count == 1 ? fmt::format("`{}`", name) : fmt::format("`{}` ({})", name, count));
  }
  if (counts.size() > parts.size()) parts.push_back(fmt::format("{} more", counts.size() - parts.size()));
  if (effects.generations == 1) parts.emplace_back("a model");
  if (effects.generations > 1) parts.push_back(fmt::format("models ({})", effects.generations));
  return fmt::format("{}", fmt::join(parts, ", "));
}

unsigned seconds_of(std::chrono::seconds time) {
  return static_cast<unsigned>(time.count());
}

}  // namespace

int exit_code_of_stop(const Environment& environment) {
  return exit_signal_base + environment.stop_signal->load();
}

void notify_waiting(const runtime::EffectsInProgress& effects, std::chrono::milliseconds grace,
                    const Environment& environment) {
  const std::size_t count = effects.count();
  if (count == 0 || grace.count() == 0) return;
  const bool is_terminated = environment.stop_signal->load() == SIGTERM;
  notify(fmt::format("waiting up to {} s for {} in progress: {}; {} at once, without {}",
                     std::chrono::duration_cast<std::chrono::seconds>(grace).count(),
                     count == 1 ? "1 call" : fmt::format("{} calls", count), describe(effects),
                     is_terminated ? "a second SIGTERM ends the process" : "press Ctrl-C again to end the process",
                     count == 1 ? "its outcome" : "their outcomes"),
         environment);
}

void run_until_stopped(runtime::Runtime& runtime, std::chrono::seconds grace_max,
                       const std::function<std::chrono::seconds()>& grace, const Environment& environment) {
  *environment.stop_seconds_max = std::max(seconds_of(grace_max), 1U);
  runtime.run(environment.interrupted, [&] {
    const std::chrono::seconds allowed = grace();
    ::alarm(seconds_of(allowed + end_margin));  // the signal was noticed
    notify_waiting(runtime.list_effects_in_progress(), allowed, environment);
    return allowed;
  });
  *environment.stop_seconds_max = 0;
  ::alarm(0);
}

void run_until_stopped(runtime::Runtime& runtime, std::chrono::seconds grace, const Environment& environment) {
  run_until_stopped(
      runtime, grace, [grace] { return grace; }, environment);
}

}  // namespace tenon::cli
