#include "runtime/scheduling/scheduler.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tenon::runtime {

using effects::EffectKind;

namespace {

/// How long a poll may wait when nothing else is to be done. It is woken earlier by what finishes.
constexpr std::chrono::milliseconds poll_wait{200};

/// A step that has gathered records of this many bytes ends there, and the run continues with the next one.
constexpr std::uint64_t step_bytes_max = std::uint64_t{64} << 20U;

/// From this many bytes on, the appends that wait are committed before another step.
constexpr std::size_t commit_bytes_max = std::size_t{256} << 20U;

bool is_set(const std::atomic<bool>* stop) {
  return stop != nullptr && stop->load(std::memory_order_relaxed);
}

/// For listeners.
EndedRun ended_run(const Run& run) {
  EndedRun ended{*run.end, {}, {}};
  if (run.core) ended.instructions = run.core->machine().instructions();
  const auto* const value = std::get_if<vm::Value>(&*run.end);
  if (value != nullptr) ended.label = run.core->machine().labels().describe(value->label());
  return ended;
}

}  // namespace

Scheduler::Scheduler(RunTable& runs, Recorder& recorder, Requests& requests, Effects& effects, Questions& questions,
                     Cancellation& cancellation, ParkedRuns& parked, CommitGate& gate,
                     const RuntimeDependencies& dependencies, const RuntimeOptions& options)
    : runs_(runs),
      recorder_(recorder),
      requests_(requests),
      effects_(effects),
      questions_(questions),
      cancellation_(cancellation),
      parked_(parked),
      gate_(gate),
      dependencies_(dependencies),
      options_(options),
      memory_(options.memory_bytes_max) {}

void Scheduler::run(const std::atomic<bool>* stop, const Grace& grace) {
  while (!is_set(stop)) {
    if (poll(poll_wait, stop) || gate_.is_committing()) continue;
    const auto timer = effects_.time_to_timer();
    if (!timer || (dependencies_.store != nullptr && *timer > options_.patience)) return;
    if (options_.asks_at_once && questions_.are_open()) return;
    dependencies_.clock.wait(std::min(*timer, poll_wait));
  }
  const auto time = grace ? grace() : std::chrono::milliseconds{0};
  if (!time) return;
  drain(*time);
  phase_ = Phase::Running;
}

void Scheduler::drain(std::chrono::milliseconds grace) {
  if (grace.count() > 0) {
    drain_end_ = dependencies_.clock.monotonic() + grace;
    phase_ = Phase::Draining;
    static_cast<void>(poll(std::chrono::milliseconds{0}));
    flush();
    while (awaits_outcomes()) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(drain_end_ - dependencies_.clock.monotonic());
      if (left.count() <= 0) break;
      static_cast<void>(poll(std::min(left, poll_wait)));
    }
  }
  stop();
}

bool Scheduler::awaits_outcomes() const {
  if (effects_.in_progress() > 0) return true;
  // An attempt that has failed, or a question, is what a call has come to, too, and is recorded with the run's next
  // step.
  return std::ranges::any_of(runs_.queue(), [this](RunId id) {
    const Run& run = runs_[id];
    return !run.pending_outcomes.empty() || (!run.end && run.journal.is_stored() && run.journal.has_pending());
  });
}

bool Scheduler::poll(std::chrono::milliseconds wait, const std::atomic<bool>* stop) {
  effects_.allow_inline_calls(Effects::InlineCalls::Yes);
  follow_lease();
  if (takes_requests()) dependencies_.requests->poll();
  effects_.fire_timers(phase_ == Phase::Running ? Effects::Retries::Yes : Effects::Retries::No);
  on_committed(gate_.take(CommitGate::Wait::No));
  const bool has_news = !runs_.queue().empty();  // the caller hears of it before anything is waited for
  give_slices(options_.slice_instructions, stop);
  if (is_set(stop)) return true;
  commit();
  const bool can_continue = !runs_.queue().empty() || (takes_requests() && dependencies_.requests->has_work());
  if (effects_.in_progress() == 0) return can_continue;
  effects_.poll(has_news || can_continue ? std::chrono::milliseconds{0} : wait);
  return true;
}

bool Scheduler::poll_briefly(std::uint64_t instructions) {
  effects_.allow_inline_calls(Effects::InlineCalls::No);
  give_slices(instructions, nullptr);
  commit();
  return !runs_.queue().empty() || effects_.in_progress() > 0;
}

void Scheduler::give_slices(std::uint64_t instructions, const std::atomic<bool>* stop) {
  for (std::size_t count = runs_.queue().size(); count > 0 && !is_set(stop); --count) {
    step(runs_.take_next(), instructions);
    if (is_gate_full()) commit();
  }
}

void Scheduler::stop() {
  phase_ = Phase::Stopping;
  flush();
  effects_.cancel_all();
  runs_.clear_queue();
}

void Scheduler::step(RunId id, std::uint64_t instructions) {
  const Run& run = runs_[id];
  const std::uint64_t end = instructions + (run.core ? run.core->machine().instructions() : 0);
  while (advance(id, instructions)) {
    const bool is_over = run.journal.pending_bytes() >= step_bytes_max || run.core->machine().instructions() >= end;
    if (!is_over) continue;
    runs_.enqueue(id);
    break;
  }
  publish_step(id);
}

/// Advances by one slice or one outcome; false when the run has to wait.
bool Scheduler::advance(RunId id, std::uint64_t instructions) {
  Run& run = runs_[id];
  if (run.end || !run.core || (run.conversation && !run.conversation->is_in_turn())) return false;
  const bool is_cancelled = run.is_quiescent && run.pending_outcomes.empty() && run.cancel;
  if (is_cancelled) {
    if (!cancellation_.begin(id)) return false;
  } else if (run.is_quiescent) {
    if (run.pending_outcomes.empty()) return false;
    PendingOutcome next = std::move(run.pending_outcomes.front());
    run.pending_outcomes.pop_front();
    if (run.core->find(next.key) == nullptr) {  // its branch has been cancelled
      if (dependencies_.listener != nullptr) dependencies_.listener->on_outcome_dropped(id, next.key);
      return true;
    }
    deliver(id, next);
  }
  RunCore::Advance advance = run.core->advance(instructions);
  for (const vm::RequestId cancelled : advance.cancelled) effects_.cancel(id, cancelled);
  if (!advance.is_quiescent) {
    if (memory_.is_exceeded(runs_, parked_)) {
      fail_memory(id);
    } else {
      runs_.enqueue(id);
    }
    return false;
  }
  run.is_quiescent = true;
  recorder_.add_refusals(run);
  if (advance.end) {
    finish(id, std::move(*advance.end));
    return false;
  }
  open_requests(id, advance.opened);
  await_calls(id);
  if (is_cancelled && run.outgoing == 0) effects_.perform_dropped(id);
  return true;
}

void Scheduler::deliver(RunId id, PendingOutcome& next) {
  Run& run = runs_[id];
  const OpenRequest& open = *run.core->find(next.key);
  recorder_.add_outcome(run, next, open);
  if (run.conversation) run.conversation->follow_outcome(open, next.outcome, run.core->machine().labels());
  run.core->deliver(next.key, std::move(next.outcome));
  run.is_quiescent = false;
}

/// The machine has ended: so has the run, or the turn of its conversation.
void Scheduler::finish(RunId id, vm::Step end) {
  Run& run = runs_[id];
  if (auto* const damaged = std::get_if<vm::Damaged>(&end)) {
    static_cast<void>(take_late_cancel(run));
    return recorder_.end_run(run, RunDamaged{std::move(damaged->message), std::move(damaged->place)});
  }
  if (run.core->cancelled()) {
    const effects::CancelWanted& wanted = *run.core->cancelled();
    RunCancelled cancelled{wanted.reason};
    if (wanted.ends_run || !run.conversation) return recorder_.end_run(run, std::move(cancelled));
    return recorder_.end_turn(run, std::move(cancelled));
  }
  TurnOutcome outcome;
  if (auto* const finished = std::get_if<vm::Finished>(&end)) {
    outcome = std::move(finished->value);
  } else {
    outcome = RunFailed{std::move(std::get<vm::Failed>(end).report)};
  }
  end_by_itself(id, std::move(outcome));
}

/// What ends by itself is not cancelled any more; a conversation is, after its turn.
void Scheduler::end_by_itself(RunId id, TurnOutcome outcome) {
  Run& run = runs_[id];
  const auto too_late = take_late_cancel(run);
  if (!run.conversation) {
    return recorder_.end_run(run, std::visit([](auto& how) { return RunEnd(std::move(how)); }, outcome));
  }
  recorder_.end_turn(run, std::move(outcome));
  run.core->open().clear();
  run.is_quiescent = true;
  if (too_late && too_late->ends_run) cancellation_.end(id, {*too_late});
}

/// The cancel has come too late to begin; it counts as done when the end is durable.
std::optional<effects::CancelWanted> Scheduler::take_late_cancel(Run& run) {
  auto cancel = std::exchange(run.cancel, std::nullopt);
  if (!cancel) return std::nullopt;
  run.journal.keep_notes(std::move(cancel->notes));
  return std::move(cancel->wanted);
}

void Scheduler::await_calls(RunId id) {
  for (const vm::RequestId request : runs_[id].core->machine().take_awaited_calls()) {
    effects_.await_outcome(id, request);
  }
}

void Scheduler::open_requests(RunId id, const std::vector<std::string>& keys) {
  Run& run = runs_[id];
  const bool is_draining = phase_ == Phase::Draining && run.journal.is_stored();
  if (!is_draining && (options_.pools.is_empty() || !run.journal.is_stored())) return requests_.open(id, keys);
  // The end of the grace time is also that of a program which only reports.
  if (is_draining && drain_end_ <= dependencies_.clock.monotonic()) return;
  std::vector<std::string> here;
  for (const std::string& key : keys) {
    const OpenRequest& open = *run.core->find(key);
    // An outcome that is known at once comes before all others, as the journal has it (src/algebra).
    if (effects::is_instant(open.described.kind)) {
      here.push_back(key);
      continue;
    }
    // The process that resumes the run makes these requests: one that is recorded might have been started.
    if (is_draining) continue;
    const std::string& pool = options_.pools.pool_of(run.core->machine(), open.request, run.title);
    if (pool == options_.pools.here()) {
      here.push_back(key);
    } else if (!run.moves_to) {
      run.moves_to = pool;
    }
  }
  requests_.open(id, here);
}

/// Whether nothing of the run is in progress, so that another host can make the requests that are not recorded.
bool Scheduler::may_move(const Run& run) const {
  if (phase_ != Phase::Running || run.end || !run.core || run.cancel) return false;
  if (!run.is_quiescent || !run.pending_outcomes.empty() || !run.to_perform.empty()) return false;
  return std::ranges::all_of(run.core->open(),
                             [](const auto& entry) { return !entry.second.is_recorded || is_waiting(entry.second); });
}

/// The host that takes the run makes these requests without a commit of its own. They are recorded in the order of the
/// program, up to the first one that only that host may record: a call that is made once, because a recorded one might
/// have been made, and what has a time of its own, because the run may wait for a host.
void Scheduler::record_requests_of(RunId id, const std::string& pool) {
  Run& run = runs_[id];
  if (run.known) return;
  const bytecode::Program& program = run.image->program();
  std::vector<const OpenRequest*> next;
  for (const auto& [key, open] : run.core->open()) {
    if (open.is_recorded || options_.pools.pool_of(run.core->machine(), open.request, run.title) != pool) continue;
    next.push_back(&open);
  }
  std::ranges::sort(next, {}, [](const OpenRequest* open) { return open->request.id; });
  std::vector<std::string> keys;
  for (const OpenRequest* open : next) {
    const EffectKind kind = open->described.kind;
    const bool is_call =
        kind == EffectKind::Extern && !is_once(*open, program) && !call_deadline(*open, program, recorder_.now_ms());
    if (!is_call && !effects::is_generation(kind)) break;
    keys.push_back(open->request.key);
  }
  requests_.open(id, keys);
  run.to_perform.clear();
}

void Scheduler::move(RunId id) {
  Run& run = runs_[id];
  const std::string pool = *std::exchange(run.moves_to, std::nullopt);
  record_requests_of(id, pool);
  recorder_.add_snapshot(run, options_.snapshot_bytes_min);
  run.journal.move_to(pool);
  run.moved_after = run.journal.last();
  PendingBatch out{id, run.journal.last(), run.journal.take_records(), {}};
  out.moves_to = pool;
  journal::Append append = run.journal.take(recorder_.summary_of(run));
  ++run.outgoing;
  gate_.add(std::move(out), std::move(append));
}

void Scheduler::fail_memory(RunId id) {
  Run& run = runs_[id];
  vm::FailureReport report;
  report.kind = types::FailureKind::BudgetSpent;
  report.message =
      fmt::format("the values of the run take more than {} MB, the most", options_.memory_bytes_max >> 20U);
  report.blame = "memory";
  report.call_stack = run.core->machine().call_stack();
  if (!report.call_stack.entries.empty()) {
    report.place = run.core->image()->loaded()->describe(report.call_stack.entries.front().place);
  }
  effects_.cancel(id);
  end_by_itself(id, RunFailed{std::move(report)});
}

/// After a step: the new records become durable, or are acted upon at once without a store.
void Scheduler::publish_step(RunId id) {
  Run& run = runs_[id];
  RunJournal& journal = run.journal;
  if (!journal.is_stored()) {
    notify_recorded(id, journal.take_records());
    return dispatch_effects(id, std::exchange(run.to_perform, {}));
  }
  if (is_detached(run)) return;  // the store has the run as it was before
  if (run.moves_to && may_move(run)) return move(id);
  recorder_.add_snapshot(run, options_.snapshot_bytes_min);
  if (!journal.has_pending()) {
    // Nothing new, but what was there before may not be durable yet.
    if (run.outgoing == 0) return dispatch_effects(id, std::exchange(run.to_perform, {}));
    if (!run.to_perform.empty()) gate_.follow(id, std::exchange(run.to_perform, {}));
    return;
  }
  PendingBatch out{id, journal.last(), journal.take_records(), std::exchange(run.to_perform, {})};
  journal::Append append = journal.take(recorder_.summary_of(run));
  ++run.outgoing;
  gate_.add(std::move(out), std::move(append));
}

/// Whether nothing else could continue during a commit. A script's answers do not arrive by themselves, and their order
/// is the script's alone.
bool Scheduler::is_alone() const {
  if (!runs_.queue().empty()) return false;
  return effects_.in_progress() > 0 ? !effects_.arrive_by_themselves() : options_.commits_inline_when_alone;
}

bool Scheduler::is_gate_full() const {
  return gate_.waiting() >= options_.appends_per_commit_max || gate_.waiting_bytes() >= commit_bytes_max;
}

/// Where nothing else could continue meanwhile, a commit is waited for: handing it to another thread costs a lone run
/// more than it saves.
void Scheduler::commit() {
  if (is_alone() || is_gate_full()) on_committed(gate_.take(CommitGate::Wait::Yes));
  // What was committed may have begun effects or let a run continue.
  if (dependencies_.committer != nullptr && !is_alone()) return gate_.begin();
  if (gate_.waiting() == 0) return;
  on_committed(gate_.commit());
  static_cast<void>(gate_.store()->maintain());  // an error comes again with the next commit
}

void Scheduler::flush() {
  while (!gate_.is_empty()) {
    on_committed(gate_.take(CommitGate::Wait::Yes));
    on_committed(gate_.commit());
  }
}

void Scheduler::on_committed(std::vector<CommittedBatch> passed) {
  for (CommittedBatch& one : passed) {
    const RunId id = one.what.run;
    Run& run = runs_[id];
    --run.outgoing;
    const bool is_dropped = one.problem && one.problem->error == journal::StoreError::Kind::Full &&
                            one.what.without_room == PendingBatch::WithoutRoom::Drop;
    if (one.problem && !is_dropped) {
      if (!is_detached(run)) detach(id, std::move(*one.problem));
    } else {
      run.stored_records = one.what.last;
      notify_recorded(id, one.what.records);
      if (one.what.moves_to && !is_detached(run)) {
        detach(id, {.message = fmt::format("the run continues in the hosts of `{}`", *one.what.moves_to),
                    .refusal = journal::AppendRefusal::OldEpoch});
      }
    }
    dispatch_effects(id, one.what.to_perform);
  }
}

void Scheduler::detach(RunId id, RunDetached problem) {
  Run& run = runs_[id];
  effects_.cancel(id);
  run.end = std::move(problem);
  run.outgoing -= gate_.drop(id);
  std::erase_if(held_, [id](const auto& held) { return held.first == id; });
}

journal::LeaseState Scheduler::lease() const {
  return dependencies_.ownership == nullptr ? journal::LeaseState::Held : dependencies_.ownership->lease();
}

/// Begins the effects that have waited for the lease, or drops the recorded runs when others continue them.
void Scheduler::follow_lease() {
  if (dependencies_.ownership == nullptr) return;
  switch (lease()) {
    case journal::LeaseState::Held:
      for (const auto& [id, key] : std::exchange(held_, {})) dispatch_effects(id, {key});
      break;
    case journal::LeaseState::Suspended:
      break;
    case journal::LeaseState::Lost:
      detach_recorded();
      break;
  }
}

void Scheduler::detach_recorded() {
  for (RunId id{0}; id.index < runs_.all().size(); ++id.index) {
    if (!runs_[id].journal.is_stored() || runs_[id].end) continue;
    detach(id, {.message = "this process was silent for longer than its lease, and others continue its runs",
                .refusal = journal::AppendRefusal::OldEpoch});
    dispatch_effects(id, {});
  }
}

void Scheduler::notify_recorded(RunId id, const RecordList& list) const {
  if (dependencies_.listener == nullptr || list.records.empty()) return;
  dependencies_.listener->on_recorded({id, *runs_[id].image->loaded(), list.first, list.records, list.texts});
}

/// Everything that the requests follow from is durable; that the run has ended may still wait in the gate.
void Scheduler::dispatch_effects(RunId id, const std::vector<std::string>& to_perform) {
  Run& run = runs_[id];
  if (run.end) {
    // A run that was cancelled during a commit has records that the next one takes.
    const bool has_pending = run.journal.is_stored() && !is_detached(run) && run.journal.has_pending();
    if (run.is_end_reported || run.outgoing > 0 || has_pending) return;
    run.is_end_reported = true;
    if (dependencies_.listener != nullptr) {
      dependencies_.listener->on_run_ended(id, ended_run(run));
      dependencies_.listener->on_stepped(id);
    }
    return;
  }
  if (phase_ == Phase::Stopping) return;
  const bool is_draining = phase_ == Phase::Draining && run.journal.is_stored();
  for (const std::string& key : to_perform) {
    const OpenRequest* const open = is_draining ? run.core->find(key) : nullptr;
    if (is_draining && (open == nullptr || !is_once(*open, run.core->image()->program()))) continue;
    if (run.journal.is_stored() && lease() != journal::LeaseState::Held) {
      held_.emplace_back(id, key);
      continue;
    }
    if (auto performed = effects_.perform(id, key); !performed) {
      detach(id, {std::move(performed.error().message)});
      return dispatch_effects(id, {});
    }
  }
  // What was to be performed may have had its outcome before, and have been all that kept the run here.
  if (run.moves_to && may_move(run)) runs_.enqueue(id);
  if (dependencies_.listener != nullptr) dependencies_.listener->on_stepped(id);
}

bool Scheduler::is_idle(RunId id) const {
  const Run& run = runs_[id];
  if (is_detached(run)) return run.is_end_reported;
  if (run.is_queued || run.outgoing > 0) return false;
  if (run.end) return run.is_end_reported;
  if (!run.is_quiescent || !run.pending_outcomes.empty() || !run.to_perform.empty()) return false;
  if (run.journal.has_pending()) return false;
  if (run.conversation && !run.conversation->is_in_turn()) return true;
  return std::ranges::all_of(run.core->open(), [](const auto& entry) { return is_waiting(entry.second); });
}

}  // namespace tenon::runtime
