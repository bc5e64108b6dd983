// What a run records, and what follows from it once that is durable.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/ensure.h"
#include "json/writer.h"
#include "runtime/agent_records.h"
#include "runtime/prompts.h"
#include "runtime/recovery.h"
#include "runtime/runtime.h"
#include "vm/context.h"

namespace tenon::runtime {

using effects::EffectKind;
using types::FailureKind;

namespace {

/// For listeners.
EndedRun ended_run(const Run& run) {
  EndedRun ended{*run.end, {}, {}};
  if (run.core) ended.instructions = run.core->machine().instructions();
  const auto* const value = std::get_if<vm::Value>(&*run.end);
  if (value != nullptr) ended.label = run.core->machine().labels().describe(value->label());
  return ended;
}

effects::FailureText to_text(const vm::FailureReport& report) {
  return {report.kind, report.message, report.blame, report.place};
}

}  // namespace

std::string describe(const std::vector<PendingInput>& questions, const std::vector<PendingRetry>& retries) {
  std::string text;
  JsonWriter out(text);
  out.begin_list();
  for (const PendingInput& question : questions) {
    out.begin_object().name("wait").text(question.wait).name("question").text(question.text);
    out.name("type").text(question.type).name("schema").raw(question.schema);
    if (question.until) out.name("until").integer(*question.until);
    if (!question.agent.empty()) out.name("agent").text(question.agent);
    if (!question.callers.empty()) {
      out.name("callers").begin_list();
      for (const std::string& caller : question.callers) out.text(caller);
      out.end_list();
    }
    out.end_object();
  }
  for (const PendingRetry& retry : retries) {
    out.begin_object().name("unavailable").text(retry.outage.is_tool ? "tool" : "model");
    out.name("name").text(retry.outage.service).name("reason").text(retry.outage.reason);
    out.name("attempts").integer(retry.outage.attempts).name("since").integer(retry.outage.since);
    if (retry.next_at) out.name("next_at").integer(*retry.next_at);
    out.name("effect").text(retry.effect).end_object();
  }
  out.end_list();
  return text;
}

std::int64_t time_after(std::int64_t now_ms, std::int64_t milliseconds) {
  return now_ms + std::clamp<std::int64_t>(milliseconds, 0, wait_ms_max);
}

void place(const Run& run, const vm::Request& request, std::string& agent, std::uint32_t& depth) {
  if (request.agent != UINT32_MAX) agent = run.image->program().agents[request.agent].name;
  depth = request.depth;
}

/// Records new requests, and completes those that need no one else.
void Runtime::open_requests(RunId id, const std::vector<std::string>& keys) {
  Run& run = runs_[id.index];
  // The process that resumes the run makes these requests: one that is recorded might have been started.
  if (phase_ == Phase::Draining && run.journal.is_stored()) return;
  for (const std::string& key : keys) {
    OpenRequest& open = *run.core->find(key);
    const vm::Request& request = open.request;
    const EffectKind kind = open.described.kind;
    const bytecode::Program& program = run.core->image()->program();
    if (kind == EffectKind::Sleep) open.wake_at = time_after(now_ms(), request.arguments[0].as_integer());
    if (kind == EffectKind::Ask && program.externs[request.subject].builtin_effect == types::BuiltinEffect::AskWithin) {
      open.wake_at = time_after(now_ms(), request.arguments[1].as_integer());
    }
    if (kind == EffectKind::Extern) open.wake_at = extern_wakes_at(open, program);
    if (run.journal.takes_records()) record_request(run, open);
    open.is_recorded = true;
    const bool is_instant = kind == EffectKind::Now || kind == EffectKind::Random || effects::is_notification(kind);
    if (kind == EffectKind::HandedOff && run.conversation && request.depth == 0) {
      run.conversation->hand_off(request.arguments[0].as_text());
    }
    if (run.known) {
      const effects::Finished* const known = run.known->take(open.described.identity, key);
      if (known != nullptr && give_known(id, open, *known)) continue;
    }
    if (is_instant) {
      enqueue_outcome(id, key, instant_outcome(kind), {});
    } else {
      run.to_perform.push_back(key);
    }
  }
}

void Runtime::record_request(Run& run, OpenRequest& open) {
  const vm::Request& request = open.request;
  const EffectKind kind = open.described.kind;
  effects::Requested requested;
  requested.key = request.key;
  requested.kind = kind;
  requested.subject = open.described.subject;
  requested.request = open.described.identity;
  requested.context = open.described.context;
  requested.arguments = run.journal.keep(open.described.arguments);
  if (effects::is_generation(kind)) run.journal.keep_context(request.context);
  if (kind == EffectKind::Ask) {
    PendingInput question = question_of(run, request.key, open);
    requested.form = run.journal.keep(std::move(question.schema));
    requested.callers = std::move(question.callers);
  }
  requested.place = run.core->place_of(request);
  requested.wake_at = open.wake_at;
  place(run, request, requested.agent, requested.depth);
  const std::int64_t now = now_ms();
  if (auto left = run.core->follow_blocks(requested, now)) std::move(*left).add_to(requested);
  if (kind == EffectKind::AnswerRefused) requested.call = refused_answer(request);
  open.records.push_back(run.journal.add({now, std::move(requested)}));
}

/// Hands in what another run has learnt, as if it had been performed. False when it is of a type that has changed: then
/// it is found out anew.
bool Runtime::give_known(RunId id, const OpenRequest& open, const effects::Finished& known) {
  const Run& run = runs_[id.index];
  if (known.value.hash) return false;  // the value is lost
  auto outcome = effects::read_outcome(effects::form_of(known, known.value.text), open.request, run.image->program());
  if (!outcome) return false;
  outcome->usage = effects::usage_of(known.cost);
  // A model that follows a script continues after the answer.
  for (std::uint64_t at = 0; effects::is_generation(known.kind) && at < known.cost.model_calls; ++at) {
    dependencies_.model.skip(prompt_of(*run.core->image(), run.options, open.request));
  }
  enqueue_outcome(id, open.request.key, std::move(*outcome), known.cost);
  return true;
}

void Runtime::record_outcome(Run& run, PendingOutcome& arrived, const OpenRequest& open) {
  effects::OutcomeForm form = std::move(arrived.form);
  effects::Finished finished;
  finished.key = arrived.key;
  finished.kind = open.described.kind;
  finished.subject = open.described.subject;
  place(run, open.request, finished.agent, finished.depth);
  finished.value = run.journal.keep(std::move(form.value));
  finished.clause = form.clause;
  finished.tool = std::move(form.tool);
  finished.failure = std::move(form.failure);
  finished.cost = arrived.cost;
  run.core->blocks().add_tokens(arrived.key, arrived.cost.tokens);
  finished.prompted = std::move(form.prompted);
  if (arrived.said) {
    effects::Continued said{arrived.key, run.journal.keep(*arrived.said), {}, 0};
    place(run, open.request, said.agent, said.depth);
    run.journal.add({now_ms(), std::move(said)});
  }
  run.journal.add({now_ms(), std::move(finished)});
  if (auto text = plain_answer(open.request, arrived.outcome, run.core->image()->program())) {
    effects::Said said{arrived.key, run.journal.keep(std::move(*text)), {}, 0};
    place(run, open.request, said.agent, said.depth);
    run.journal.add({now_ms(), std::move(said)});
  }
  if (arrived.note) run.journal.keep_note(*arrived.note);
}

/// After a step: what is to be durable goes out, or, without a store, is acted upon at once.
void Runtime::flush_step(RunId id) {
  Run& run = runs_[id.index];
  RunJournal& journal = run.journal;
  if (!journal.is_stored()) {
    notify_recorded(id, journal.take_records());
    return dispatch_effects(id, std::exchange(run.to_perform, {}));
  }
  const bool continues = !run.end && run.core && (!run.conversation || run.conversation->is_in_turn());
  if (run.is_quiescent && continues && run.pending_outcomes.empty() &&
      journal.bytes_since_snapshot() > std::max(options_.snapshot_bytes_min, run.snapshot_bytes)) {
    std::string snapshot = write_snapshot(run.conversation.get(), run.core.get());
    run.snapshot_bytes = snapshot.size();
    journal.set_snapshot(std::move(snapshot));
  }
  if (!journal.has_pending()) {
    // Nothing new, but what was there before may not be durable yet.
    if (run.outgoing == 0) return dispatch_effects(id, std::exchange(run.to_perform, {}));
    if (!run.to_perform.empty()) gate_.follow(id, std::exchange(run.to_perform, {}));
    return;
  }
  PendingBatch out{id, journal.last(), journal.take_records(), std::exchange(run.to_perform, {})};
  journal::Append append = journal.take(summary_of(id));
  ++run.outgoing;
  gate_.add(std::move(out), std::move(append));
}

/// Where nothing else could continue meanwhile, a commit is waited for: handing it to another thread costs a lone run
/// more than it saves. A script's answers do not arrive by themselves, and their order is the script's alone.
void Runtime::commit() {
  const bool may_be_alone =
      generations_.empty() ? options_.commits_inline_when_alone : dependencies_.model.follows_a_script();
  const bool is_alone = ready_.empty() && calls_.empty() && may_be_alone;
  if (dependencies_.committer == nullptr || (is_alone && !gate_.is_committing())) {
    if (gate_.waiting() == 0) return;
    on_committed(gate_.commit());
    static_cast<void>(store().maintain());  // an error comes again with the next commit
    return;
  }
  if (is_alone || gate_.waiting() >= options_.appends_per_commit_max) on_committed(gate_.take(CommitGate::Wait::Yes));
  gate_.begin();
}

/// Nothing waits in the gate any more.
void Runtime::flush() {
  while (!gate_.is_empty()) {
    on_committed(gate_.take(CommitGate::Wait::Yes));
    on_committed(gate_.commit());
  }
}

void Runtime::on_committed(std::vector<CommittedBatch> passed) {
  for (CommittedBatch& one : passed) {
    const RunId id = one.what.run;
    Run& run = runs_[id.index];
    --run.outgoing;
    if (run.end && std::holds_alternative<RunDetached>(*run.end)) continue;
    const bool is_dropped = one.problem && one.problem->error == journal::StoreError::Kind::Full &&
                            one.what.without_room == PendingBatch::WithoutRoom::Drop;
    if (one.problem && !is_dropped) {
      cancel_effects(id);
      run.end = std::move(*one.problem);
      run.outgoing -= gate_.drop(id);
    } else {
      run.stored_records = one.what.last;
      notify_recorded(id, one.what.records);
    }
    dispatch_effects(id, one.what.to_perform);
  }
}

void Runtime::notify_recorded(RunId id, const RecordList& list) const {
  if (dependencies_.listener == nullptr || list.records.empty()) return;
  dependencies_.listener->on_recorded({id, *runs_[id.index].image->loaded(), list.first, list.records, list.texts});
}

/// Everything that the requests follow from is durable; that the run or its turn has ended may still wait in the gate.
void Runtime::dispatch_effects(RunId id, const std::vector<std::string>& to_perform) {
  Run& run = runs_[id.index];
  const bool is_detached = run.end && std::holds_alternative<RunDetached>(*run.end);
  const bool is_end_durable = run.outgoing == 0;
  if (run.end) {
    if (run.is_end_reported || !(is_end_durable || is_detached)) return;
    run.is_end_reported = true;
    if (dependencies_.listener != nullptr) dependencies_.listener->on_run_ended(id, ended_run(run));
    return;
  }
  if (phase_ == Phase::Stopping) return;
  const bool is_draining = phase_ == Phase::Draining && run.journal.is_stored();
  for (const std::string& key : to_perform) {
    const OpenRequest* const open = is_draining ? run.core->find(key) : nullptr;
    if (is_draining && (open == nullptr || !is_once(*open, run.core->image()->program()))) continue;
    perform(id, key);
  }
}

journal::RunSummary Runtime::summary_of(RunId id) const {
  const Run& run = runs_[id.index];
  journal::RunSummary summary;
  summary.title = run.title;
  summary.updated_at = now_ms();
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
  const std::vector<PendingInput> asked = questions(id);
  const std::vector<PendingRetry> tried = retries(id);
  if (waits || !asked.empty() || !tried.empty()) summary.detail = describe(asked, tried);
  return summary;
}

/// Ends an agent's turn: the conversation continues.
void Runtime::end_turn(RunId id, TurnOutcome outcome) {
  Run& run = runs_[id.index];
  Conversation& conversation = *run.conversation;
  effects::TurnEnded ended;
  ended.turn = conversation.turns();
  const vm::Value* const value = std::get_if<vm::Value>(&outcome);
  const bytecode::Program& program = run.core->image()->program();
  std::string text;
  if (value != nullptr) {
    const types::TypeId type = program.functions[conversation.declaration().turn].result;
    if (const auto written = effects::write_value(*value, type, program.types, text); !written) {
      vm::FailureReport report;
      report.kind = FailureKind::Conversion;
      report.message = "the turn's value cannot be recorded: " + written.error().message;
      return end_turn(id, RunFailed{std::move(report)});
    }
  } else if (const auto* failed = std::get_if<RunFailed>(&outcome)) {
    ended.how = effects::Ended::How::Failed;
    ended.failure = to_text(failed->report);
  } else if (const auto* cancelled = std::get_if<RunCancelled>(&outcome)) {
    ended.how = effects::Ended::How::Cancelled;
    ended.failure = {FailureKind::Cancelled, cancelled->reason, "", ""};
  }
  const std::string state_before = conversation.state_before();
  // A state that cannot be written down is as it was before the turn.
  static_cast<void>(conversation.end(*run.core, value));
  if (run.journal.takes_records()) {
    ended.agent = conversation.declaration().name;
    ended.added_entries = conversation.declaration().added_entries;
    std::string changed =
        value == nullptr ? "" : changed_entries(state_before, conversation.state(), ended.added_entries);
    if (!changed.empty()) {
      run.journal.add({now_ms(), effects::StateChanged{ended.agent, run.journal.keep(std::move(changed))}});
    }
    ended.value = run.journal.keep(std::move(text));
    ended.state = run.journal.keep(conversation.state());
    if (vm::context_length(conversation.talk()) > 0) ended.conversation = run.journal.keep_context(conversation.talk());
    run.journal.add({now_ms(), std::move(ended)});
  }
  if (run.journal.is_stored()) run.journal.set_snapshot(write_snapshot(run.conversation.get(), nullptr));
  run.turn_outcome = std::move(outcome);
}

void Runtime::end_run(RunId id, RunEnd end) {
  Run& run = runs_[id.index];
  if (run.journal.takes_records()) {
    effects::Ended ended;
    if (const auto* value = std::get_if<vm::Value>(&end)) {
      const bytecode::Program& program = run.core->image()->program();
      std::string text;
      const auto written = effects::write_value(*value, program.functions[run.function].result, program.types, text);
      if (written) {
        ended.value = run.journal.keep(std::move(text));
      } else if (run.journal.is_stored()) {
        vm::FailureReport report;
        report.kind = FailureKind::Conversion;
        report.message = "the run's value cannot be recorded: " + written.error().message;
        end = RunFailed{std::move(report)};
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
    run.journal.add({now_ms(), std::move(ended)});
  }
  run.end = std::move(end);
}

}  // namespace tenon::runtime
