// What is recorded of tries that have not given an outcome.

#include <algorithm>

#include "runtime/retry.h"
#include "runtime/runtime.h"

namespace tenon::runtime {

/// The model sends again by itself, and does not wait for the disk: a crash in between costs one attempt more, not the
/// count. The next process continues from what was recorded.
void Runtime::on_attempt_failed(inference::GenerationId id, std::uint32_t /*failed*/, std::string_view reason,
                                std::chrono::milliseconds wait) {
  const auto found = generations_.find(id);
  if (found == generations_.end()) return;  // cancelled
  const Generation& generation = found->second;
  Run& run = runs_[generation.run.index];
  OpenRequest* const open = run.core->find(generation.key);
  if (open == nullptr) return;
  effects::Attempted attempted;
  attempted.what = effects::Attempted::What::Transport;
  const auto is_other = [](const effects::Attempted& earlier) {
    return earlier.what != effects::Attempted::What::Transport;
  };
  const auto others = std::find_if(open->attempts.rbegin(), open->attempts.rend(), is_other);
  attempted.attempt = static_cast<std::uint32_t>(others - open->attempts.rbegin());
  attempted.reason = reason;
  attempted.next_at = now_ms() + wait.count();
  record_attempt(generation.run, *open, std::move(attempted));
}

void Runtime::record_attempt(RunId id, OpenRequest& open, effects::Attempted attempted) {
  Run& run = runs_[id.index];
  attempted.key = open.request.key;
  place(run, open.request, attempted.agent, attempted.depth);
  const std::int64_t now = now_ms();
  open.follow(attempted, now, run.journal.add({now, attempted}));
  enqueue(id);
}

/// A model or a tool cannot be reached: a recorded run waits, and tries again. False where the effect fails instead.
bool Runtime::await_service(RunId id, const std::string& key, Outage outage) {
  Run& run = runs_[id.index];
  OpenRequest* const open = run.journal.is_stored() && !run.end ? run.core->find(key) : nullptr;
  if (open == nullptr || !waits_for_services(run.options.retry)) return false;
  const std::int64_t now = now_ms();
  effects::Attempted attempted;
  attempted.what = effects::Attempted::What::Unavailable;
  attempted.attempt = open->outage ? open->outage->attempts : 0;
  attempted.since = open->outage && attempted.attempt > 0 ? open->outage->since : now;
  attempted.service = std::move(outage.service);
  attempted.is_tool = outage.is_tool;
  attempted.reason = std::move(outage.reason);
  const double random_unit = dependencies_.random_unit ? dependencies_.random_unit() : 0.0;
  const auto wait = next_retry_ms(run.options.retry, attempted.attempt, now - attempted.since, random_unit);
  if (wait) attempted.next_at = time_after(now, *wait);
  record_attempt(id, *open, std::move(attempted));
  if (open->wake_at) timers_.emplace(*open->wake_at, Timer{id, key});
  return true;
}

/// That it is performed again is durable before it is: a call that is made at most once would be in doubt otherwise.
void Runtime::retry(RunId id, const std::string& key) {
  Run& run = runs_[id.index];
  OpenRequest& open = *run.core->find(key);
  effects::Attempted again;
  again.what = effects::Attempted::What::Retried;
  if (open.described.kind == effects::EffectKind::Extern) {
    again.next_at = extern_wakes_at(open, run.core->image()->program());
  }
  record_attempt(id, open, std::move(again));
  if (std::ranges::find(run.to_perform, key) == run.to_perform.end()) run.to_perform.push_back(key);
}

void Runtime::retry_services(RunId id) {
  Run& run = runs_[id.index];
  if (run.end || !run.core) return;
  for (auto& [key, open] : run.core->open()) {
    if (!open.outage || !open.outage->is_waiting) continue;
    open.outage->attempts = 0;
    retry(id, key);
  }
}

}  // namespace tenon::runtime
