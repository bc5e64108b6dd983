// How a Runtime is driven by a thread that has other work, and how runs that only wait leave the memory.

#include <algorithm>

#include "base/ensure.h"
#include "runtime/runtime.h"

namespace tenon::runtime {

namespace {

/// How long a poll may wait when nothing else is to be done. It is woken earlier by what finishes.
constexpr std::chrono::milliseconds poll_wait{200};

bool is_set(const std::atomic<bool>* stop) {
  return stop != nullptr && stop->load(std::memory_order_relaxed);
}

}  // namespace

void Runtime::run(const std::atomic<bool>* stop, const std::function<std::chrono::milliseconds()>& grace) {
  while (!is_set(stop)) {
    if (poll(poll_wait, stop) || gate_.is_committing()) continue;
    const auto timer = time_to_timer();
    if (!timer || (dependencies_.store != nullptr && *timer > options_.patience)) return;
    if (options_.asks_at_once && is_person_asked()) return;
    dependencies_.clock.wait(std::min(*timer, poll_wait));
  }
  drain(grace ? grace() : std::chrono::milliseconds{0});
  phase_ = Phase::Running;
}

void Runtime::drain(std::chrono::milliseconds grace) {
  if (grace.count() > 0) {
    const auto end = dependencies_.clock.monotonic() + grace;
    phase_ = Phase::Draining;
    static_cast<void>(poll(std::chrono::milliseconds{0}));
    flush();
    while (awaits_outcomes()) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - dependencies_.clock.monotonic());
      if (left.count() <= 0) break;
      static_cast<void>(poll(std::min(left, poll_wait)));
    }
  }
  stop();
}

bool Runtime::awaits_outcomes() const {
  if (!generations_.empty() || !calls_.empty()) return true;
  return std::ranges::any_of(ready_, [this](RunId run) { return !runs_[run.index].pending_outcomes.empty(); });
}

bool Runtime::is_person_asked() const {
  return std::any_of(runs_.begin(), runs_.end(), [](const Run& run) {
    if (run.end || !run.core) return false;
    return std::any_of(run.core->open().begin(), run.core->open().end(),
                       [](const auto& entry) { return asks_person(entry.second); });
  });
}

bool Runtime::poll(std::chrono::milliseconds wait, const std::atomic<bool>* stop) {
  fire_timers();
  on_committed(gate_.take(CommitGate::Wait::No));
  for (std::size_t count = ready_.size(); count > 0 && !is_set(stop); --count) {
    const RunId next = ready_.front();
    ready_.pop_front();
    step(next);
    if (gate_.waiting() >= options_.appends_per_commit_max) commit();
  }
  if (is_set(stop)) return true;
  commit();
  if (!ready_.empty()) wait = std::chrono::milliseconds{0};
  if (generations_.empty() && calls_.empty()) return !ready_.empty();
  if (const auto timer = time_to_timer()) wait = std::min(wait, *timer);
  if (const auto end = budget_ends_.time_to_next(dependencies_.clock.monotonic())) wait = std::min(wait, *end);
  // One of the two is waited for; a call or a commit that ends wakes the model.
  if (!calls_.empty()) dependencies_.extern_caller->poll(generations_.empty() ? wait : std::chrono::milliseconds{0});
  if (!generations_.empty()) dependencies_.model.poll(wait);
  stop_broken();
  return true;
}

void Runtime::stop() {
  phase_ = Phase::Stopping;
  flush();
  cancel_all();
}

void Runtime::wake() {
  dependencies_.model.wake();
  if (dependencies_.extern_caller != nullptr) dependencies_.extern_caller->wake();
}

bool Runtime::is_idle(RunId id) const {
  const Run& run = runs_[id.index];
  if (run.is_queued || run.outgoing > 0) return false;
  if (run.end) return run.is_end_reported;
  if (!run.is_quiescent || !run.pending_outcomes.empty() || !run.to_perform.empty()) return false;
  if (run.journal.has_pending()) return false;
  if (run.conversation && !run.conversation->is_in_turn()) return true;
  return std::ranges::all_of(run.core->open(), [](const auto& entry) { return is_waiting(entry.second); });
}

void Runtime::release(RunId id) {
  ENSURE(is_idle(id));
  Run& run = runs_[id.index];
  std::erase_if(timers_, [id](const auto& entry) { return entry.second.run == id; });
  cancel_effects(id);
  if (dependencies_.listener != nullptr) dependencies_.listener->on_run_released(id);
  run = Run{};
  released_.push_back(id);
}

void Runtime::abandon(RunId id) {
  ENSURE(runs_[id.index].journal.is_stored() && runs_[id.index].journal.is_untouched());
  std::erase(ready_, id);
  if (dependencies_.listener != nullptr) dependencies_.listener->on_run_released(id);
  runs_[id.index] = Run{};
  released_.push_back(id);
}

RunId Runtime::add_run() {
  if (released_.empty()) {
    runs_.emplace_back();
    return {static_cast<std::uint32_t>(runs_.size() - 1)};
  }
  const RunId id = released_.back();
  released_.pop_back();
  return id;
}

void Runtime::keep_note(RunId run, journal::Note note) {
  ENSURE(runs_[run.index].journal.is_stored());
  runs_[run.index].journal.keep_note(std::move(note));
}

}  // namespace tenon::runtime
