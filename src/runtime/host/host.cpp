// The host's loop: what it does when, and what it passes on of its runs.
#include "runtime/host/host.h"

#include <algorithm>
#include <utility>

#include "base/abandon.h"
#include "base/ensure.h"
#include "runtime/listeners.h"

namespace tenon::runtime {
namespace {

/// How long the loop waits at most, in case a wake-up is lost while the model is waited for.
constexpr std::chrono::milliseconds poll_interval_max{100};

}  // namespace

Host::Host(Parts parts, HostOptions options)
    : parts_(std::move(parts)), options_(options), requests_(options.requests_max) {}

Host::~Host() {
  end();
}

void Host::begin(DrivenBy driver) {
  parts_.store.on_progress([this] { wake(); });
  if (parts_.listener != nullptr) {
    listeners_ = std::make_unique<Listeners>(std::vector<Listener*>{parts_.listener, this});
  }
  runtime_ = std::make_unique<Runtime>(RuntimeDependencies{.model = parts_.model,
                                                           .extern_caller = parts_.extern_caller,
                                                           .clock = parts_.clock,
                                                           .listener = listeners_ ? listeners_.get() : this,
                                                           .random_unit = parts_.random_unit,
                                                           .store = &parts_.store.owner().journals(),
                                                           .committer = &parts_.store.committer(),
                                                           .secrets = parts_.secrets},
                                       options_.runtime);
  const auto now = [&clock = parts_.clock] { return wall_ms(clock); };
  const auto report = [this](const std::string& message) {
    if (!is_ending_) parts_.observer.on_problem(message);
  };
  notes_ = std::make_unique<StoreNotes>(
      StoreNotes::Parts{.store = parts_.store,
                        .secrets = parts_.secrets,
                        .clock = parts_.clock,
                        .replies_kept = options_.replies_kept,
                        .on_broken = [this](std::string_view message) { note_broken(message); }});
  residents_ = std::make_unique<ResidentRuns>(*runtime_);
  loader_ = std::make_unique<RunLoader>(RunLoader::Parts{.store = parts_.store,
                                                         .runtime = *runtime_,
                                                         .residents = *residents_,
                                                         .images = parts_.images,
                                                         .model = parts_.model,
                                                         .counts = counts_});
  schedule_ = std::make_unique<RunSchedule>(RunSchedule::Parts{
      .store = parts_.store, .residents = *residents_, .loader = *loader_, .now_ms = now, .report = report});
  const auto is_stopped = [this] { return is_broken_ || is_ending_; };
  gate_ = std::make_unique<RequestGate>(RequestGate::Parts{.store = parts_.store,
                                                           .runtime = *runtime_,
                                                           .notes = *notes_,
                                                           .loader = *loader_,
                                                           .pending = pending_,
                                                           .is_stopped = is_stopped});
  performing_ = std::make_unique<RunRequests>(
      RunRequests::Parts{.store = parts_.store,
                         .runtime = *runtime_,
                         .notes = *notes_,
                         .residents = *residents_,
                         .loader = *loader_,
                         .pending = pending_,
                         .counts = counts_,
                         .newest = parts_.newest,
                         .now_ms = now,
                         .is_stopped = is_stopped,
                         .on_changed = [this](const journal::RunName& run) { parts_.observer.on_changed(run); }});
  inbox_ = std::make_unique<InboxReader>(
      InboxReader::Parts{.store = parts_.store,
                         .now_ms = now,
                         .wake = [this] { wake(); },
                         .take = [this](const journal::Command& command) { take_command(command); },
                         .report = report,
                         .counts = counts_});
  schedule_->begin();
  if (driver == DrivenBy::Caller) return;
  thread_ = std::thread([this] {
    while (run_once(poll_interval_max)) {
    }
  });
}

void Host::end(std::chrono::milliseconds grace) {
  requests_.end(grace);
  if (thread_.joinable()) {
    wake();
    thread_.join();
  }
  while (run_once(std::chrono::milliseconds{0})) {
  }
}

/// From any thread.
void Host::wake() const {
  waker_.wake();
  parts_.model.wake();
  if (parts_.extern_caller != nullptr) parts_.extern_caller->wake();
}

void Host::post(std::function<void()> request, const OnReply& reply) {
  if (auto refusal = requests_.add(std::move(request))) return reply(failure(std::move(*refusal)));
  wake();
}

bool Host::run_once(std::chrono::milliseconds wait) {
  try {
    return step(wait);
  } catch (const BrokenCondition& broken) {
    abandon(broken.what());
    return false;
  }
}

/// Nothing of the host is in a known state: it is left as it is, without its destructors.
void Host::abandon(std::string_view message) {
  is_broken_ = true;
  requests_.end(std::chrono::milliseconds{0});
  parts_.observer.on_broken(message);
  inbox_.reset();  // its thread would call the host
  tenon::abandon(performing_);
  tenon::abandon(gate_);
  tenon::abandon(schedule_);
  tenon::abandon(loader_);
  tenon::abandon(residents_);
  tenon::abandon(notes_);
  tenon::abandon(runtime_);
  tenon::abandon(listeners_);
  parts_.store.finish();  // a commit whose outcome was not taken may still call the function
  parts_.store.on_progress({});
}

bool Host::step(std::chrono::milliseconds wait) {
  if (!runtime_) return false;
  waker_.clear();
  parts_.store.deliver();
  const RequestQueue::Taken taken = requests_.take();
  for (const RequestQueue::Request& request : taken.requests) request();
  if (taken.ending) {
    finish(*taken.ending);
    return false;
  }
  if (is_broken_) {
    waker_.wait(wait);
    return true;
  }
  inbox_->poll();
  schedule_->poll();
  const auto now = std::chrono::milliseconds{0};
  const auto next = std::min({wait, time_to_next(), poll_interval_max});
  const bool has_worked = runtime_->poll(residents_->has_touched() ? now : next);
  retry_detached();
  if (is_broken_) return true;
  if (const std::size_t released = residents_->release_idle(options_.idle_runs_max, wall_ms(parts_.clock));
      released > 0) {
    counts_.runs_released += released;
    schedule_->note_released();
  }
  counts_.resident = residents_->size();
  counts_.effects_under_way = runtime_->effects_in_progress();
  if (!has_worked && !residents_->has_touched()) waker_.wait(std::min(wait, time_to_next()));
  return true;
}

std::chrono::milliseconds Host::time_to_next() {
  auto next = inbox_->time_to_next();
  if (const auto time = schedule_->time_to_next()) next = std::min(next, *time);
  if (const auto time = runtime_->time_to_timer()) next = std::min(next, *time);
  return next;
}

/// Work with the store that is in progress ends, and so does what follows from it.
void Host::finish_store() {
  while (parts_.store.in_progress() > 0) {
    parts_.store.finish();
    parts_.store.deliver();
  }
}

void Host::finish(std::chrono::milliseconds grace) {
  is_ending_ = true;
  loader_->stop(RequestQueue::stopping());
  finish_store();
  if (!is_broken_) {
    // What was taken becomes durable.
    if (grace.count() == 0) static_cast<void>(runtime_->poll(std::chrono::milliseconds{0}));
    const EffectsInProgress effects = runtime_->list_effects_in_progress();
    if (grace.count() > 0 && effects.count() > 0) parts_.observer.on_waiting(effects, grace);
    runtime_->drain(grace);
  }
  pending_.fail_all(RequestQueue::stopping());
  finish_store();
  inbox_.reset();
  runtime_.reset();
  parts_.store.finish();  // a commit whose outcome was taken may still call the function
  parts_.store.on_progress({});
}

void Host::note_broken(std::string_view message) {
  if (std::exchange(is_broken_, true)) return;
  parts_.observer.on_broken(message);
  const HostFailure why{HostFailure::Kind::Unavailable, std::string(message)};
  loader_->stop(why);
  pending_.fail_all(why);  // no run records anything any more
}

void Host::retry_detached() {
  for (const auto& [run, why] : std::exchange(detached_, {})) {
    if (why.error == journal::StoreError::Kind::Broken) note_broken(why.message);
    const bool is_full = why.error == journal::StoreError::Kind::Full;
    if (is_full) schedule_->report_problem(why.message);
    schedule_->retry(run, is_full ? RunSchedule::Reason::DiskFull : RunSchedule::Reason::Other);
  }
}

void Host::on_recorded(const RecordBatch& batch) {
  const auto& [run, program, first, records, texts] = batch;
  counts_.records += records.size();
  schedule_->note_room();
  residents_->note_recorded(run);
  for (const effects::Record& record : records) {
    if (const auto* finished = std::get_if<effects::Finished>(&record.body)) pieces_.end(run, finished->key);
  }
  parts_.observer.on_recorded((*residents_)[run].name, runtime_->title(run), first, records);
  pending_.on_recorded(run, first, records);
}

void Host::on_generation_started(const SentGeneration& generation) {
  pieces_.begin(generation, runtime_->title(generation.effect.run));
}

void Host::on_text(RunId run, std::string_view key, std::uint32_t attempt, std::uint32_t transport_attempt,
                   std::string_view piece) {
  pieces_.add(run, key, {attempt, transport_attempt}, piece,
              [&](const TextProgress& progress) { parts_.observer.on_text((*residents_)[run].name, progress); });
}

void Host::on_run_ended(RunId run, const EndedRun& ended) {
  residents_->touch(run);
  if (const auto* detached = std::get_if<RunDetached>(&ended.end)) {
    detached_.emplace_back((*residents_)[run].name, *detached);
    return pending_.fail(run, {HostFailure::Kind::Unavailable, detached->message});
  }
  ++counts_.runs_ended;
  pending_.fail(run, {HostFailure::Kind::Conflict, "the run has ended"});
}

void Host::on_run_released(RunId run) {
  pieces_.end(run);
  pending_.fail(run, make_conflict("the run was unloaded before the request was performed"));
}

void Host::on_outcome_dropped(RunId run, std::string_view key) {
  pending_.fail_answer(run, key);
}

}  // namespace tenon::runtime
