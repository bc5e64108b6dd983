#include "runtime/effects/timers.h"

#include <algorithm>

namespace tenon::runtime {

void Timers::add(std::int64_t time, RunId run, std::string key) {
  timers_.emplace(time, Timer{run, std::move(key)});
}

std::optional<Timers::Timer> Timers::take_due(std::int64_t now_ms) {
  while (!timers_.empty() && timers_.begin()->first <= now_ms) {
    const auto first = timers_.extract(timers_.begin());
    if (!is_stale(first.key(), first.mapped())) return first.mapped();
  }
  return std::nullopt;
}

std::optional<std::chrono::milliseconds> Timers::time_to_next(std::int64_t now_ms) {
  while (!timers_.empty() && is_stale(timers_.begin()->first, timers_.begin()->second)) timers_.erase(timers_.begin());
  if (timers_.empty()) return std::nullopt;
  return std::chrono::milliseconds(std::max<std::int64_t>(timers_.begin()->first - now_ms, 0));
}

void Timers::remove(RunId run) {
  std::erase_if(timers_, [run](const auto& entry) { return entry.second.run == run; });
}

bool Timers::is_stale(std::int64_t time, const Timer& timer) const {
  const OpenRequest* const open = runs_.find(timer.run, timer.key);
  return open == nullptr || open->wake_at != time;
}

}  // namespace tenon::runtime
