#include "cli/store_wait.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/duration.h"

namespace tenon::cli {
namespace {

/// A hundred years: longer ones would not fit the clock.
constexpr std::uint64_t wait_ms_max = std::uint64_t{100} * 365 * 24 * 60 * 60 * 1000;

}  // namespace

StoreWait::StoreWait(const StoreWaitChoice& choice, std::chrono::milliseconds interval, const Environment& environment)
    : choice_(choice), interval_(interval), environment_(environment) {}

bool StoreWait::may_try_again(std::string_view why) {
  if (!choice_.is_wanted) return false;
  Clock& clock = environment_.system.clock;
  if (choice_.milliseconds_max && !end_) {
    end_ = clock.monotonic() + std::chrono::milliseconds(std::min(*choice_.milliseconds_max, wait_ms_max));
  }
  if (end_ && clock.monotonic() >= *end_) return false;
  show(why);
  clock.wait(interval_);
  was_stopped_ = environment_.interrupted->load();
  return !was_stopped_;
}

void StoreWait::show(std::string_view why) {
  if (shown_ == why) return;
  const bool is_first = shown_.empty();
  shown_ = why;
  std::string text(why);
  if (is_first) {
    text += "; waiting until it ends";
    if (choice_.milliseconds_max) text += fmt::format(", {} at most", describe_duration_ms(*choice_.milliseconds_max));
  } else {
    text += "; still waiting";
  }
  notify(text, environment_);
}

}  // namespace tenon::cli
