#include "runtime/recording/recorder.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/ensure.h"
#include "runtime/recording/agent_records.h"
#include "runtime/recording/request_record.h"
#include "runtime/recording/turn_records.h"
#include "runtime/recovery/recovery.h"
#include "runtime/waits/waits.h"

namespace tenon::runtime {

using types::FailureKind;

namespace {

effects::AgentScope scope_of(const Run& run, const OpenRequest& open) {
  return effects::AgentScope(effects::scope_of(open.request, run.image->program()));
}

}  // namespace

void Recorder::add(Run& run, effects::RecordBody&& body) {
  run.journal.add({now_ms(run), std::move(body)});
}

void Recorder::add_request(Run& run, OpenRequest& open) {
  open.is_recorded = true;
  if (!run.journal.takes_request(open.described.kind)) return;
  const std::int64_t now = now_ms(run);
  open.records.push_back(run.journal.add({now, record_request(*run.core, run.journal, open, run.title, now)}));
}

void Recorder::add_refusals(Run& run) {
  for (effects::FlowRefused& refused : run.core->take_refusals()) {
    if (run.journal.takes_records()) add(run, std::move(refused));
  }
}

void Recorder::add_outcome(Run& run, PendingOutcome& arrived, const OpenRequest& open) {
  if (!run.journal.takes_records()) return;
  effects::Finished finished;
  finished.key = arrived.key;
  finished.kind = open.described.kind;
  finished.subject = open.described.subject;
  finished.scope = scope_of(run, open);
  effects::record_outcome(std::move(arrived.form), finished,
                          [&](std::string text) { return run.journal.keep(std::move(text)); });
  finished.cost = arrived.cost;
  run.core->blocks().add_tokens(arrived.key, arrived.cost.tokens);
  if (arrived.said) {
    add(run, effects::Continued{arrived.key, run.journal.keep(*arrived.said), scope_of(run, open)});
  }
  add(run, std::move(finished));
  if (auto text = plain_answer(open.request, arrived.outcome, run.core->image()->program())) {
    add(run, effects::Said{arrived.key, run.journal.keep(std::move(*text)), scope_of(run, open)});
  }
  run.journal.keep_notes(std::move(arrived.notes));
}

void Recorder::add_attempt(Run& run, OpenRequest& open, effects::Attempted attempted) {
  attempted.key = open.request.key;
  attempted.scope = scope_of(run, open);
  const std::int64_t now = now_ms(run);
  open.follow(attempted, now, run.journal.add({now, attempted}));
}

void Recorder::add_pause(Run& run, OpenRequest& open, effects::Paused::Why why, effects::StoredText form) {
  effects::Paused paused;
  paused.key = open.request.key;
  paused.question = *open.question;
  paused.scope = scope_of(run, open);
  paused.callers = callers_of(run.core->machine(), open.request, run.title);
  paused.why = why;
  paused.form = std::move(form);
  paused.earlier = open.asked++;
  open.records.push_back(run.journal.add({now_ms(run), std::move(paused)}));
}

void Recorder::add_answer(Run& run, OpenRequest& open, std::string_view input, std::vector<journal::Note> notes) {
  effects::Continued continued{open.request.key, run.journal.keep(std::string(input)), scope_of(run, open),
                               open.wake_at, open.asked - 1};
  open.records.push_back(run.journal.add({now_ms(run), std::move(continued)}));
  run.journal.keep_notes(std::move(notes));
}

void Recorder::end_turn(Run& run, TurnOutcome outcome) {
  Conversation& conversation = *run.conversation;
  for (effects::RecordBody& body : runtime::end_turn(conversation, *run.core, outcome, run.journal)) {
    add(run, std::move(body));
  }
  if (run.journal.is_stored()) run.journal.set_snapshot(write_snapshot(&conversation, nullptr));
  run.turn_outcome = std::move(outcome);
}

void Recorder::end_run(Run& run, RunEnd end) {
  if (!run.journal.takes_records()) {
    run.end = std::move(end);
    return;
  }
  effects::Ended ended;
  if (const auto* value = std::get_if<vm::Value>(&end)) {
    const bytecode::Program& program = run.core->image()->program();
    std::string text;
    const auto written = effects::write_value(*value, program.functions[run.function].result, program.types, text);
    if (written) {
      ended.value = run.journal.keep(std::move(text));
    } else if (run.journal.is_stored()) {
      end = unrecordable(*run.core->image(), run.function,
                         "the run's value cannot be recorded: " + written.error().message);
    }
  }
  if (const auto* failed = std::get_if<RunFailed>(&end)) {
    ended.how = effects::Ended::How::Failed;
    ended.failure = to_text(failed->report);
  } else if (const auto* damaged = std::get_if<RunDamaged>(&end)) {
    ended.how = effects::Ended::How::Failed;
    ended.failure = {FailureKind::Raised, damaged->message, "tenon", damaged->place};
  } else if (const auto* cancelled = std::get_if<RunCancelled>(&end)) {
    ended.how = effects::Ended::How::Cancelled;
    ended.failure = {FailureKind::Cancelled, cancelled->reason, "", ""};
  }
  add(run, std::move(ended));
  run.end = std::move(end);
}

void Recorder::add_snapshot(Run& run, std::uint64_t bytes_min) const {
  const bool continues = !run.end && run.core && (!run.conversation || run.conversation->is_in_turn());
  if (!run.is_quiescent || !continues || !run.pending_outcomes.empty()) return;
  if (run.journal.bytes_since_snapshot() <= std::max(bytes_min, run.snapshot_bytes)) return;
  std::string snapshot = write_snapshot(run.conversation.get(), run.core.get());
  run.snapshot_bytes = snapshot.size();
  run.journal.set_snapshot(std::move(snapshot));
}

journal::RunSummary Recorder::summary_of(const Run& run) const {
  ENSURE(!is_detached(run));
  journal::RunSummary summary;
  summary.title = run.title;
  summary.updated_at = std::max(run.newest_time, now_ms());
  if (run.end) {
    summary.state = std::holds_alternative<vm::Value>(*run.end)      ? journal::RunState::Done
                    : std::holds_alternative<RunCancelled>(*run.end) ? journal::RunState::Cancelled
                                                                     : journal::RunState::Failed;
    return summary;
  }
  if (run.conversation && !run.conversation->is_in_turn()) {
    summary.state = journal::RunState::Idle;
    return summary;
  }
  bool waits = run.is_quiescent && run.pending_outcomes.empty() && !run.core->open().empty();
  for (const auto& [key, open] : run.core->open()) {
    waits = waits && open.is_recorded && is_waiting(open);
    if (open.wake_at && (!summary.wake_at || *open.wake_at < *summary.wake_at)) summary.wake_at = open.wake_at;
  }
  if (waits) summary.state = journal::RunState::Waiting;
  const std::vector<PendingInput> asked = questions_of(run);
  const std::vector<PendingRetry> tried = retries_of(run);
  // A single time is `wake_at`: a run that sleeps again and again keeps its detail.
  std::vector<std::int64_t> timers = waits ? timers_of(run) : std::vector<std::int64_t>();
  if (timers.size() == 1 && timers.front() == summary.wake_at) timers.clear();
  if (waits || !asked.empty() || !tried.empty()) summary.detail = describe(asked, tried, timers);
  return summary;
}

}  // namespace tenon::runtime
