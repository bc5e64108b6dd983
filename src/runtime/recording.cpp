// What a run records, and what follows from it once that is durable.

#include <fmt/format.h>

#include <algorithm>

#include "base/ensure.h"
#include "base/json_text.h"
#include "runtime/agent_records.h"
#include "runtime/prompts.h"
#include "runtime/runtime.h"
#include "vm/context.h"

namespace tenon::runtime {

using effects::EffectKind;
using types::FailureKind;

namespace {

std::string describe_refusal(journal::AppendRefusal refusal) {
  switch (refusal) {
    case journal::AppendRefusal::UnknownRun:
      return "the store does not know the run any more";
    case journal::AppendRefusal::WrongNumber:
    case journal::AppendRefusal::OldEpoch:
      return "somebody else goes on with the run";
    case journal::AppendRefusal::UnknownReference:
      return "the store does not have a content that the journal refers to";
    case journal::AppendRefusal::TooLarge:
      return fmt::format("what the run wants to record takes more than {} MB", journal::append_bytes_max >> 20U);
  }
  ENSURE(false);
}

effects::FailureText to_text(const vm::FailureReport& report) {
  return {report.kind, report.message, report.blame, report.place};
}

}  // namespace

std::string describe(const std::vector<Question>& questions) {
  std::string text = "[";
  for (const Question& question : questions) {
    if (text.size() > 1) text += ',';
    text += R"({"wait":)";
    append_json_string(text, question.wait);
    text += R"(,"question":)";
    append_json_string(text, question.text);
    text += R"(,"type":)";
    append_json_string(text, question.type);
    text += R"(,"schema":)" + question.schema;
    if (question.until) text += fmt::format(R"(,"until":{})", *question.until);
    text += '}';
  }
  return text + ']';
}

std::int64_t Runtime::wakes_in(std::int64_t milliseconds) const {
  return now_ms() + std::clamp<std::int64_t>(milliseconds, 0, wait_ms_max);
}

/// Whose function a request stands in, as records have it.
void Runtime::place(const Run& run, const vm::Request& request, std::string& agent, std::uint32_t& depth) {
  if (request.agent != UINT32_MAX) agent = run.image->program().agents[request.agent].name;
  depth = request.depth;
}

/// Records new requests, and gives those their outcome for which nobody has to be asked.
void Runtime::open_requests(RunId id, const std::vector<std::string>& keys) {
  Run& run = runs_[id.index];
  for (const std::string& key : keys) {
    OpenRequest& open = *run.core->find(key);
    const vm::Request& request = open.request;
    const EffectKind kind = open.described.kind;
    const bytecode::Program& program = run.core->image()->program();
    if (kind == EffectKind::Sleep) open.wake_at = wakes_in(request.arguments[0].as_integer());
    if (kind == EffectKind::Ask && program.externs[request.subject].world_call == types::WorldCall::AskWithin) {
      open.wake_at = wakes_in(request.arguments[1].as_integer());
    }
    if (run.journal) {
      effects::Requested requested;
      requested.key = key;
      requested.kind = kind;
      requested.subject = open.described.subject;
      requested.request = open.described.identity;
      requested.context = open.described.context;
      requested.arguments = run.journal->keep(open.described.arguments);
      if (effects::is_generation(kind)) run.journal->keep_context(request.context);
      if (kind == EffectKind::Ask) {
        requested.form = run.journal->keep(question_of(run, key, open).schema);
        requested.callers = callers_of(run.core->machine(), request, run.title);
      }
      requested.place = run.core->place_of(request);
      requested.wake_at = open.wake_at;
      place(run, request, requested.agent, requested.depth);
      open.records.push_back(run.journal->add({now_ms(), std::move(requested)}));
      open.is_recorded = true;
    }
    const bool is_instant = kind == EffectKind::Now || kind == EffectKind::Random || kind == EffectKind::AgentCalled ||
                            kind == EffectKind::AgentReturned || kind == EffectKind::HandedOff;
    if (kind == EffectKind::HandedOff && run.conversation && request.depth == 0) {
      // Only of a run that is recorded the request is described.
      run.conversation->hand_off(request.arguments[0].as_text());
    }
    if (run.journal && world_.known != nullptr) {
      if (auto known = world_.known->take(open, *run.core->image())) {
        // A model that follows a script goes on behind the answer.
        for (std::uint64_t at = 0; effects::is_generation(kind) && at < known->cost.model_calls; ++at) {
          world_.model.skip(prompt_of(*run.core->image(), run.options, request));
        }
        arrive(id, key, std::move(known->outcome), std::move(known->cost));
        continue;
      }
    }
    if (is_instant) {
      arrive(id, key, instant_outcome(kind), {});
    } else {
      run.to_perform.push_back(key);
    }
  }
}

void Runtime::record_outcome(Run& run, const Arrived& arrived, const OpenRequest& open) {
  auto form = effects::write_outcome(arrived.outcome, open.request, run.core->image()->program());
  ENSURE(form.has_value());  // `arrive` has seen to it
  effects::Finished finished;
  finished.key = arrived.key;
  finished.kind = open.described.kind;
  finished.subject = open.described.subject;
  place(run, open.request, finished.agent, finished.depth);
  finished.value = run.journal->keep(std::move(form->value));
  finished.clause = form->clause;
  finished.failure = std::move(form->failure);
  finished.cost = arrived.cost;
  finished.prompted = std::move(form->prompted);
  run.journal->add({now_ms(), std::move(finished)});
  if (auto text = plain_answer(open.request, arrived.outcome, run.core->image()->program())) {
    effects::Said said{arrived.key, run.journal->keep(std::move(*text)), {}, 0};
    place(run, open.request, said.agent, said.depth);
    run.journal->add({now_ms(), std::move(said)});
  }
  if (arrived.note) run.journal->keep_note(*arrived.note);
}

/// After a step: what is to be durable goes out, or, without a store, is acted upon at once.
void Runtime::settle(RunId id) {
  Run& run = runs_[id.index];
  if (!run.journal) return act(id, std::exchange(run.to_perform, {}));
  RunJournal& journal = *run.journal;
  const bool goes_on = !run.end && run.core && (!run.conversation || run.conversation->is_in_turn());
  if (run.is_at_rest && goes_on && run.arrived.empty() &&
      journal.bytes_since_snapshot() > std::max(options_.snapshot_bytes_min, run.snapshot_bytes)) {
    std::string snapshot = write_snapshot(run.conversation.get(), run.core.get());
    run.snapshot_bytes = snapshot.size();
    journal.set_snapshot(std::move(snapshot));
  }
  if (!journal.has_pending()) {
    if (!run.is_outgoing) return act(id, std::exchange(run.to_perform, {}));
    // Nothing new, but what was there before is not durable yet.
    const auto newest =
        std::find_if(outgoing_.rbegin(), outgoing_.rend(), [&](const Outgoing& out) { return out.run == id; });
    ENSURE(newest != outgoing_.rend());
    for (std::string& key : std::exchange(run.to_perform, {})) newest->to_perform.push_back(std::move(key));
    return;
  }
  run.is_outgoing = true;
  Outgoing out{id, {}, {}, std::exchange(run.to_perform, {})};
  if (world_.listener != nullptr) out.records = journal.pending();
  out.append = journal.take(summary_of(id));
  outgoing_.push_back(std::move(out));
}

void Runtime::commit() {
  if (outgoing_.empty()) return;
  std::vector<Outgoing> outgoing = std::exchange(outgoing_, {});
  std::vector<journal::Append> appends;
  appends.reserve(outgoing.size());
  for (Outgoing& out : outgoing) {
    runs_[out.run.index].is_outgoing = false;
    appends.push_back(std::move(out.append));
  }
  const auto committed = world_.store->commit(appends);
  for (std::size_t at = 0; at < outgoing.size(); ++at) {
    const Outgoing& out = outgoing[at];
    Run& run = runs_[out.run.index];
    std::string problem;
    if (!committed) {
      problem = committed.error().message;
    } else if ((*committed)[at]) {
      problem = describe_refusal(*(*committed)[at]);
    }
    if (!problem.empty()) {
      if (run.end && std::holds_alternative<RunDetached>(*run.end)) continue;
      cancel_effects(out.run);
      run.end = RunDetached{std::move(problem)};
    } else if (world_.listener != nullptr) {
      world_.listener->on_recorded(out.run, appends[at].first, out.records);
    }
    act(out.run, out.to_perform);
  }
}

/// Everything that this follows from is durable.
void Runtime::act(RunId id, const std::vector<std::string>& to_perform) {
  Run& run = runs_[id.index];
  const bool is_detached = run.end && std::holds_alternative<RunDetached>(*run.end);
  if (run.turn_outcome && !run.is_turn_told && !is_detached) {
    run.is_turn_told = true;
    if (world_.listener != nullptr) world_.listener->on_turn_ended(id, *run.turn_outcome);
  }
  if (run.end) {
    if (run.is_end_told) return;
    run.is_end_told = true;
    if (world_.listener != nullptr) {
      world_.listener->on_run_ended(id, run.core ? &run.core->machine() : nullptr, *run.end);
    }
    return;
  }
  if (is_stopping_) return;
  for (const std::string& key : to_perform) perform(id, key);
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
  bool waits = run.is_at_rest && run.arrived.empty() && !run.core->open().empty();
  for (const auto& [key, open] : run.core->open()) {
    waits =
        waits && (open.described.kind == EffectKind::Ask || open.described.kind == EffectKind::Sleep || open.question);
    if (open.wake_at && (!summary.wake_at || *open.wake_at < *summary.wake_at)) summary.wake_at = open.wake_at;
  }
  if (!waits) return summary;
  summary.state = journal::RunState::Waiting;
  summary.detail = describe(questions(id));
  return summary;
}

/// The end of an agent's turn: the conversation goes on.
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
  if (run.journal) {
    ended.agent = conversation.declaration().name;
    std::string changed = value == nullptr ? "" : changed_entries(state_before, conversation.state());
    if (!changed.empty()) {
      run.journal->add({now_ms(), effects::StateChanged{ended.agent, run.journal->keep(std::move(changed))}});
    }
    ended.value = run.journal->keep(std::move(text));
    ended.state = run.journal->keep(conversation.state());
    if (vm::context_length(conversation.talk()) > 0) {
      ended.conversation = run.journal->keep_context(conversation.talk());
    }
    run.journal->add({now_ms(), std::move(ended)});
    run.journal->set_snapshot(write_snapshot(run.conversation.get(), nullptr));
  }
  run.turn_outcome = std::move(outcome);
}

void Runtime::end_run(RunId id, RunEnd end) {
  Run& run = runs_[id.index];
  if (run.journal) {
    effects::Ended ended;
    if (const auto* value = std::get_if<vm::Value>(&end)) {
      const bytecode::Program& program = run.core->image()->program();
      std::string text;
      const auto written = effects::write_value(*value, program.functions[run.function].result, program.types, text);
      if (written) {
        ended.value = run.journal->keep(std::move(text));
      } else {
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
    run.journal->add({now_ms(), std::move(ended)});
  }
  run.end = std::move(end);
}

}  // namespace tenon::runtime
