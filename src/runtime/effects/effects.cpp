#include "runtime/effects/effects.h"

#include <algorithm>

#include "base/ensure.h"
#include "runtime/waits/waits.h"

namespace tenon::runtime {

using effects::EffectKind;
using effects::Performer;

namespace {

/// Whether an outcome of the request has arrived: the machine gets it with one of the run's next steps.
bool has_outcome(const Run& run, std::string_view key) {
  return std::ranges::any_of(run.pending_outcomes, [&](const PendingOutcome& arrived) { return arrived.key == key; });
}

}  // namespace

Result<void, effects::SecretError> Effects::perform(RunId id, const std::string& key) {
  OpenRequest* const open = runs_.find(id, key);
  if (open == nullptr || open->is_outlived) return {};
  if (open->outage && open->outage->is_waiting) {
    if (open->wake_at) timers_.add(id, key, recorder_.moment());
    return {};
  }
  const Run& run = runs_[id];
  switch (effects::performer_of(open->described.kind)) {
    case Performer::Model:
      generations_.start(id, *open);
      break;
    case Performer::Caller: {
      if (open->question) {  // a person is asked first
        if (!run.journal.is_stored()) questions_.ask_interactively(id, key);
        break;
      }
      if (open->wake_at) {
        const Moment now = recorder_.moment();
        if (open->due_at(now) <= now.monotonic) {  // while the run was not in memory
          Recorder::reach(runs_[id], *open->wake_at);
          calls_.time_out(id, *open);
          break;
        }
        timers_.add(id, key, now);
      }
      open->is_started = true;
      const bool is_alone = inline_calls_ == InlineCalls::Yes && runs_.all().size() == 1 &&
                            run.core->open().size() == 1 && generations_.size() == 0;
      return calls_.start(id, *open, is_alone);
    }
    case Performer::Person:
      if (open->wake_at) timers_.add(id, key, recorder_.moment());
      if (!run.journal.is_stored()) questions_.ask_interactively(id, key);
      break;
    case Performer::Timer:
      timers_.add(id, key, recorder_.moment());
      break;
    case Performer::Nothing:
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
    if (is_planned || has_outcome(run, key)) continue;
    if (is_waiting(open) && open.wake_at) timers_.add(id, key, recorder_.moment());
    if (!is_call || is_waiting(open) || is_in_progress(id, open.request.id)) continue;
    (is_once(open, run.core->image()->program()) ? cut_off : run.to_perform).push_back(key);
  }
  for (const std::string& key : cut_off) questions_.settle_cut_off(id, key);
}

void Effects::await_outcome(RunId id, vm::RequestId request) {
  Run& run = runs_[id];
  const auto found =
      std::ranges::find_if(run.core->open(), [&](const auto& entry) { return entry.second.request.id == request; });
  if (found == run.core->open().end()) return;
  auto& [key, open] = *found;
  if (!open.is_recorded) return;  // the process that resumes the run decides
  open.is_outlived = true;
  if (has_outcome(run, key) || open.is_in_doubt) return;
  if (is_waiting(open) || !open.is_started) return outcomes_.enqueue(id, key, unmade_call(open));
  if (!is_in_progress(id, request)) return questions_.settle_cut_off(id, key);
  if (open.wake_at) return;  // its own time has a timer
  const Moment now = recorder_.moment(run);
  open.begin_wait(time_after(now.wall_ms, outlived_call_max.count()), now);
  timers_.add(id, key, now);
}

/// The call has taken too long. What it has done is not known.
void Effects::end_outlived(RunId id, const std::string& key) {
  if (has_outcome(runs_[id], key)) return;  // it has returned at the last moment
  calls_.cancel(id, runs_.find(id, key)->request.id);
  questions_.settle_cut_off(id, key);
  runs_.enqueue(id);
}

std::size_t Effects::in_progress() const {
  std::size_t count = 0;
  for (const EffectPerformer* performer : performers_) count += performer->size();
  return count;
}

std::vector<OnceCall> Effects::list_once_calls(RunId id) {
  Run& run = runs_[id];
  std::vector<OnceCall> calls;
  if (!run.core || run.end) return calls;
  const bytecode::Program& program = run.core->image()->program();
  const Moment now = recorder_.moment();
  for (auto& [key, open] : run.core->open()) {
    if (!is_once(open, program) || !calls_.is_in_progress(id, open.request.id)) continue;
    OnceCall& call = calls.emplace_back(OnceCall{program.externs[open.request.subject].name, std::nullopt});
    if (!open.is_outlived || !open.wake_at) continue;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(open.due_at(now) - now.monotonic);
    call.awaited = std::max(left, std::chrono::milliseconds{0});
  }
  return calls;
}

bool Effects::arrive_by_themselves() const {
  return std::ranges::any_of(performers_, [](const EffectPerformer* performer) { return performer->is_awaited(); });
}

bool Effects::is_in_progress(RunId run, vm::RequestId request) const {
  return std::ranges::any_of(performers_,
                             [&](const EffectPerformer* performer) { return performer->is_in_progress(run, request); });
}

void Effects::fire_timers(Retries retries) {
  while (const auto timer = timers_.take_due(recorder_.moment().monotonic)) {
    const OpenRequest& open = *runs_.find(timer->run, timer->key);
    Recorder::reach(runs_[timer->run], *open.wake_at);
    const EffectKind kind = open.described.kind;
    if (open.outage && open.outage->is_waiting) {
      if (retries == Retries::Yes) outcomes_.retry(timer->run, timer->key);
    } else if (kind == EffectKind::Sleep) {
      outcomes_.enqueue(timer->run, timer->key, {vm::ReturnedValue{vm::Value::unit()}, {}});
    } else if (kind == EffectKind::Extern && open.is_outlived) {
      end_outlived(timer->run, timer->key);
    } else if (kind == EffectKind::Extern) {
      calls_.time_out(timer->run, open);
    } else {
      questions_.time_out(timer->run, timer->key);
    }
  }
  for (EffectPerformer* performer : performers_) performer->end_late();
}

std::optional<std::chrono::milliseconds> Effects::time_to_timer() {
  return timers_.time_to_next(recorder_.moment().monotonic);
}

void Effects::poll(std::chrono::milliseconds wait) {
  if (const auto time = time_to_timer()) wait = std::min(wait, *time);
  EffectPerformer* last = nullptr;
  for (EffectPerformer* performer : performers_) {
    if (const auto time = performer->time_to_late()) wait = std::min(wait, *time);
    if (performer->size() > 0) last = performer;
  }
  for (EffectPerformer* performer : performers_) {
    if (performer->size() > 0) performer->poll(performer == last ? wait : std::chrono::milliseconds{0});
  }
}

void Effects::cancel(RunId run, vm::RequestId request) {
  for (EffectPerformer* performer : performers_) performer->cancel(run, request);
}

void Effects::cancel(RunId run) {
  for (EffectPerformer* performer : performers_) performer->cancel(run);
}

void Effects::cancel_all() {
  for (EffectPerformer* performer : performers_) performer->cancel_all();
}

}  // namespace tenon::runtime
