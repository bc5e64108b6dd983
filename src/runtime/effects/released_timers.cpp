#include "runtime/effects/released_timers.h"

#include <algorithm>

namespace tenon::runtime {

void ReleasedTimers::keep(const journal::RunName& run, RunCore& core, const Moment& now) {
  forget(run);
  Kept kept;
  auto soonest = std::chrono::nanoseconds::max();
  for (auto& [key, open] : core.open()) {
    if (!open.wake_at) continue;
    kept.timers.push_back({key, *open.wake_at, open.due_at(now)});
    soonest = std::min(soonest, kept.timers.back().due);
  }
  if (kept.timers.empty()) return;
  if (runs_.size() >= kept_max) {
    if (order_.empty() || soonest >= order_.rbegin()->first) return;
    forget({order_.rbegin()->second});
  }
  kept.place = order_.emplace(soonest, run.text);
  runs_.emplace(run.text, std::move(kept));
}

void ReleasedTimers::give_back(const journal::RunName& run, RunCore& core) {
  const auto found = runs_.find(run.text);
  if (found == runs_.end()) return;
  for (const Timer& timer : found->second.timers) {
    OpenRequest* const open = core.find(timer.key);
    if (open != nullptr && open->wake_at == timer.wake_at) open->due = timer.due;
  }
  forget(run);
}

std::vector<journal::RunName> ReleasedTimers::take_due(std::chrono::nanoseconds now) {
  std::vector<journal::RunName> due;
  while (!order_.empty() && order_.begin()->first <= now) {
    const auto first = order_.extract(order_.begin());
    runs_.at(first.mapped()).place.reset();
    due.push_back({first.mapped()});
  }
  return due;
}

std::optional<std::chrono::milliseconds> ReleasedTimers::time_to_next(std::chrono::nanoseconds now) const {
  if (order_.empty()) return std::nullopt;
  return std::max(std::chrono::ceil<std::chrono::milliseconds>(order_.begin()->first - now),
                  std::chrono::milliseconds{0});
}

bool ReleasedTimers::waits(const journal::RunName& run, std::int64_t wake_at) const {
  const auto found = runs_.find(run.text);
  if (found == runs_.end() || !found->second.place) return false;
  return std::ranges::any_of(found->second.timers, [&](const Timer& timer) { return timer.wake_at == wake_at; });
}

void ReleasedTimers::forget(const journal::RunName& run) {
  const auto found = runs_.find(run.text);
  if (found == runs_.end()) return;
  if (found->second.place) order_.erase(*found->second.place);
  runs_.erase(found);
}

}  // namespace tenon::runtime
