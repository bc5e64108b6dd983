#include "runtime/effects/timers.h"

#include <algorithm>

#include "base/ensure.h"

namespace tenon::runtime {

void Timers::add(RunId run, std::string key, const Moment& now) {
  OpenRequest* const open = runs_.find(run, key);
  ENSURE(open != nullptr && open->wake_at);
  const std::chrono::nanoseconds due = open->due_at(now);
  const auto [begin, end] = timers_.equal_range(due);
  const bool is_known = std::any_of(begin, end, [&](const auto& entry) {
    const Set& set = entry.second;
    return set.timer.run == run && set.timer.key == key && set.wake_at == *open->wake_at;
  });
  if (is_known) return;
  timers_.emplace(due, Set{Timer{run, std::move(key)}, *open->wake_at});
}

std::optional<Timers::Timer> Timers::take_due(std::chrono::nanoseconds now) {
  while (!timers_.empty() && timers_.begin()->first <= now) {
    const auto first = timers_.extract(timers_.begin());
    if (!is_stale(first.mapped())) return first.mapped().timer;
  }
  return std::nullopt;
}

std::optional<std::chrono::milliseconds> Timers::time_to_next(std::chrono::nanoseconds now) {
  while (!timers_.empty() && is_stale(timers_.begin()->second)) timers_.erase(timers_.begin());
  if (timers_.empty()) return std::nullopt;
  return std::max(std::chrono::ceil<std::chrono::milliseconds>(timers_.begin()->first - now),
                  std::chrono::milliseconds{0});
}

void Timers::remove(RunId run) {
  std::erase_if(timers_, [run](const auto& entry) { return entry.second.timer.run == run; });
}

bool Timers::is_stale(const Set& set) const {
  const OpenRequest* const open = runs_.find(set.timer.run, set.timer.key);
  return open == nullptr || open->wake_at != set.wake_at;
}

}  // namespace tenon::runtime
