#include "runtime/effects/effects.h"

#include <algorithm>

#include "base/ensure.h"

namespace tenon::runtime {

using effects::EffectKind;

Result<void, effects::SecretError> Effects::perform(RunId id, const std::string& key) {
  OpenRequest* const open = runs_.find(id, key);
  if (open == nullptr) return {};
  if (open->outage && open->outage->is_waiting) {
    if (open->wake_at) timers_.add(*open->wake_at, id, key);
    return {};
  }
  const Run& run = runs_[id];
  switch (open->described.kind) {
    case EffectKind::Complete:
    case EffectKind::Fill:
    case EffectKind::Select:
      generations_.start(id, *open);
      break;
    case EffectKind::Extern: {
      if (open->question) {  // a person is asked first
        if (!run.journal.is_stored()) questions_.ask_interactively(id, key);
        break;
      }
      if (open->wake_at) {
        if (*open->wake_at <= recorder_.now_ms()) {  // while no process ran
          calls_.time_out(id, *open);
          break;
        }
        timers_.add(*open->wake_at, id, key);
      }
      const bool is_alone = runs_.all().size() == 1 && run.core->open().size() == 1 && generations_.size() == 0;
      return calls_.start(id, *open, is_alone);
    }
    case EffectKind::Ask:
      if (open->wake_at) timers_.add(*open->wake_at, id, key);
      if (!run.journal.is_stored()) questions_.ask_interactively(id, key);
      break;
    case EffectKind::Sleep:
      timers_.add(*open->wake_at, id, key);
      break;
    case EffectKind::Now:
    case EffectKind::Random:
    case EffectKind::AgentCalled:
    case EffectKind::AgentReturned:
    case EffectKind::HandedOff:
    case EffectKind::AnswerRefused:
    case EffectKind::BlockEntered:
    case EffectKind::BlockLeft:
    case EffectKind::Emitted:
      ENSURE(false);  // has an instant outcome
  }
  return {};
}

void Effects::perform_dropped(RunId id) {
  Run& run = runs_[id];
  std::vector<std::string> cut_off;
  for (const auto& [key, open] : run.core->open()) {
    const bool is_call = open.described.kind == EffectKind::Extern || effects::is_generation(open.described.kind);
    const bool is_planned = std::ranges::find(run.to_perform, key) != run.to_perform.end();
    const bool is_pending = std::ranges::any_of(
        run.pending_outcomes, [&](const PendingOutcome& arrived) { return arrived.key == open.request.key; });
    if (!is_call || is_waiting(open) || is_planned || is_pending || is_in_progress(id, open.request.id)) continue;
    (is_once(open, run.core->image()->program()) ? cut_off : run.to_perform).push_back(key);
  }
  for (const std::string& key : cut_off) questions_.settle_cut_off(id, key);
}

bool Effects::is_in_progress(RunId run, vm::RequestId request) const {
  return generations_.is_in_progress(run, request) || calls_.is_in_progress(run, request);
}

void Effects::fire_timers(Retries retries) {
  while (const auto timer = timers_.take_due(recorder_.now_ms())) {
    const OpenRequest& open = *runs_.find(timer->run, timer->key);
    const EffectKind kind = open.described.kind;
    if (open.outage && open.outage->is_waiting) {
      if (retries == Retries::Yes) outcomes_.retry(timer->run, timer->key);
    } else if (kind == EffectKind::Sleep) {
      outcomes_.enqueue(timer->run, timer->key, {vm::ReturnedValue{vm::Value::unit()}, {}});
    } else if (kind == EffectKind::Extern) {
      calls_.time_out(timer->run, open);
    } else {
      questions_.time_out(timer->run, timer->key);
    }
  }
  generations_.end_late();
  calls_.end_late();
}

std::optional<std::chrono::milliseconds> Effects::time_to_timer() {
  return timers_.time_to_next(recorder_.now_ms());
}

void Effects::poll(std::chrono::milliseconds wait) {
  for (const auto& time : {time_to_timer(), generations_.time_to_late(), calls_.time_to_late()}) {
    if (time) wait = std::min(wait, *time);
  }
  // One of the two is waited for; a call or a commit that ends wakes the model.
  const bool generates = generations_.size() > 0;
  if (calls_.size() > 0) calls_.poll(generates ? std::chrono::milliseconds{0} : wait);
  if (generations_.size() > 0) generations_.poll(wait);
}

void Effects::cancel(RunId run, vm::RequestId request) {
  generations_.cancel(run, request);
  calls_.cancel(run, request);
}

void Effects::cancel(RunId run) {
  generations_.cancel(run);
  calls_.cancel(run);
}

void Effects::cancel_all() {
  generations_.cancel_all();
  calls_.cancel_all();
}

}  // namespace tenon::runtime
