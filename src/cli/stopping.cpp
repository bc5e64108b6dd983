#include "cli/stopping.h"
#include "base/counted.h"

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

/// `` `charge` (2), `ship` ``
std::vector<std::string> describe(const std::vector<std::string>& externs) {
  std::map<std::string, std::size_t> counts;
  for (const std::string& name : externs) ++counts[name];
  std::vector<std::string> parts;
  for (const auto& [name, count] : counts) {
    if (parts.size() == shown_names_max) break;
    parts.push_back(count == 1 ? fmt::format("`{}`", name) : fmt::format("`{}` ({})", name, count));
  }
  if (counts.size() > parts.size()) parts.push_back(fmt::format("{} more", counts.size() - parts.size()));
  return parts;
}

std::string describe(const runtime::EffectsInProgress& effects) {
  std::vector<std::string> parts = describe(effects.externs);
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

void notify_waiting(const runtime::EffectsInProgress& effects, std::chrono::milliseconds grace, std::string_view ended,
                    const Environment& environment) {
  const std::size_t count = effects.count();
  if (count == 0 || grace.count() == 0) return;
  const bool is_terminated = environment.stop_signal->load() == SIGTERM;
  notify(fmt::format("waiting up to {} s for {} in progress: {}; {} {} at once, without {}",
                     std::chrono::ceil<std::chrono::seconds>(grace).count(), counted(count, "call"), describe(effects),
                     is_terminated ? "a second SIGTERM ends" : "press Ctrl-C again to end", ended,
                     count == 1 ? "its outcome" : "their outcomes"),
         environment);
}

void run_until_stopped(runtime::Runtime& runtime, std::chrono::seconds grace_max,
                       const std::function<std::optional<std::chrono::seconds>()>& grace,
                       const Environment& environment) {
  *environment.stop_seconds_max = std::max(seconds_of(grace_max), 1U);
  runtime.run(environment.interrupted, [&]() -> std::optional<std::chrono::milliseconds> {
    const std::optional<std::chrono::seconds> allowed = grace();
    ::alarm(allowed ? seconds_of(*allowed + end_margin) : 0);  // the signal was noticed
    if (allowed) notify_waiting(runtime.list_effects_in_progress(), *allowed, "the process", environment);
    return allowed;
  });
  *environment.stop_seconds_max = 0;
  ::alarm(0);
}

void run_until_stopped(runtime::Runtime& runtime, std::chrono::seconds grace, const Environment& environment) {
  run_until_stopped(
      runtime, grace, [grace] { return grace; }, environment);
}

bool OnceCallWatch::look() {
  in_progress_.clear();
  std::vector<std::string> awaited;
  std::chrono::milliseconds time{0};
  for (runtime::OnceCall& call : runtime_.list_once_calls(run_)) {
    if (call.awaited) {
      awaited.push_back(call.name);
      time = std::max(time, *call.awaited);
    }
    in_progress_.push_back(std::move(call.name));
  }
  std::ranges::sort(in_progress_);
  std::ranges::sort(awaited);
  environment_.set_last_words(in_progress_.empty() ? std::string() : "tenon: " + describe_unknown() + "\n");
  if (!awaited.empty() && !std::ranges::includes(said_, awaited)) {
    notify_waiting({0, awaited}, time, ended_, environment_);
  }
  said_ = awaited;
  return !said_.empty();
}

void OnceCallWatch::report_unknown() const {
  if (!in_progress_.empty()) notify(describe_unknown(), environment_);
}

std::string OnceCallWatch::describe_unknown() const {
  return fmt::format("it is not known whether this call happened, which was in progress: {}",
                     fmt::join(describe(in_progress_), ", "));
}

}  // namespace tenon::cli
