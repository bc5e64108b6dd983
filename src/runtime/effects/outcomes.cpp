#include "runtime/effects/outcomes.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/ensure.h"
#include "runtime/effects/retry.h"
#include "runtime/waits/waits.h"

namespace tenon::runtime {

using types::FailureKind;

void Outcomes::enqueue(RunId id, std::string key, vm::Outcome outcome, effects::Cost cost) {
  Run& run = runs_[id];
  const OpenRequest* const open = runs_.find(id, key);
  if (open == nullptr) return;  // its branch has been cancelled
  secrets_.seal_outcome(run, open->request, outcome);
  if (auto* const failed = std::get_if<vm::EffectFailure>(&outcome.what)) {
    failed->message = effects::cut_failure_text(std::move(failed->message));
    failed->blame = effects::cut_failure_text(std::move(failed->blame));
  }
  effects::OutcomeForm form;
  if (run.journal.takes_records()) {
    const bytecode::Program& program = run.core->image()->program();
    auto written = effects::write_outcome(outcome, open->request, program);
    if (!written && run.journal.is_stored()) {
      // An outcome that cannot be recorded is a failure from the start, so that a recovery has the same one.
      outcome.what = vm::EffectFailure{
          FailureKind::Conversion,
          fmt::format("the result of `{}` cannot be recorded: {}", open->described.subject, written.error().message),
          open->described.subject};
      written = effects::write_outcome(outcome, open->request, program);
      ENSURE(written.has_value());
    }
    if (written) form = std::move(*written);
  }
  const vm::Usage& usage = outcome.usage;
  cost.model_calls = usage.model_calls;
  cost.tokens = usage.tokens;
  cost.cost_millionths = usage.cost_millionths;
  cost.milliseconds = usage.milliseconds;
  PendingOutcome arrived{std::move(key), std::move(outcome), std::move(cost), std::move(form)};
  arrived.is_of_notification = effects::is_notification(open->described.kind);
  auto before = run.pending_outcomes.end();
  if (arrived.is_of_notification) {
    // In an order that follows from the other outcomes, so that the run can be rebuilt from these (src/algebra).
    before = std::ranges::find_if(run.pending_outcomes, [&](const PendingOutcome& other) {
      return !other.is_of_notification || arrived.key < other.key;
    });
  }
  run.pending_outcomes.insert(before, std::move(arrived));
  runs_.enqueue(id);
}

void Outcomes::add_attempt(RunId id, OpenRequest& open, effects::Attempted attempted) {
  recorder_.add_attempt(runs_[id], open, std::move(attempted));
  runs_.enqueue(id);
}

void Outcomes::perform_again(RunId id, const std::string& key) {
  Run& run = runs_[id];
  if (OpenRequest* const open = runs_.find(id, key)) open->is_started = false;
  if (std::ranges::find(run.to_perform, key) == run.to_perform.end()) run.to_perform.push_back(key);
  runs_.enqueue(id);
}

bool Outcomes::await_service(RunId id, const std::string& key, Outage outage) {
  Run& run = runs_[id];
  OpenRequest* const open = run.journal.is_stored() ? runs_.find(id, key) : nullptr;
  if (open == nullptr || !waits_for_services(run.options.retry)) return false;
  const Moment moment = recorder_.moment(run);
  const std::int64_t now = moment.wall_ms;
  effects::Attempted attempted;
  attempted.what = effects::Attempted::What::Unavailable;
  attempted.attempt = open->outage ? open->outage->attempts : 0;
  attempted.since = open->outage && attempted.attempt > 0 ? open->outage->since : now;
  attempted.service = std::move(outage.service);
  attempted.is_tool = outage.is_tool;
  attempted.reason = std::move(outage.reason);
  const double random_unit = random_unit_ ? random_unit_() : 0.0;
  const std::int64_t since = std::clamp(attempted.since, now - wait_ms_max, now);
  const auto recorded = moment.monotonic - std::chrono::milliseconds(now - since);
  const auto began = attempted.attempt > 0 ? open->outage->began.value_or(recorded) : moment.monotonic;
  const auto elapsed = std::chrono::duration_cast<std::chrono::milliseconds>(moment.monotonic - began);
  const auto wait = next_retry_ms(run.options.retry, attempted.attempt, elapsed.count(), random_unit);
  if (wait) attempted.next_at = time_after(now, std::max(*wait, outage.retry_after_ms));
  add_attempt(id, *open, std::move(attempted));
  open->outage->began = began;
  open->begin_wait(open->wake_at, moment);
  if (open->wake_at) timers_.add(id, key, moment);
  return true;
}

/// That it is performed again is durable before it is: a call that is made at most once would be in doubt otherwise.
void Outcomes::retry(RunId id, const std::string& key) {
  OpenRequest& open = *runs_.find(id, key);
  effects::Attempted again;
  again.what = effects::Attempted::What::Retried;
  const Moment now = recorder_.moment(runs_[id]);
  if (open.described.kind == effects::EffectKind::Extern) {
    again.next_at = call_deadline(open, runs_[id].core->image()->program(), now.wall_ms);
  }
  add_attempt(id, open, std::move(again));
  open.begin_wait(open.wake_at, now);
  perform_again(id, key);
}

void Outcomes::retry_services(RunId id) {
  Run& run = runs_[id];
  if (run.end || !run.core) return;
  for (auto& [key, open] : run.core->open()) {
    if (!open.outage || !open.outage->is_waiting) continue;
    open.outage->attempts = 0;
    retry(id, key);
  }
}

}  // namespace tenon::runtime
