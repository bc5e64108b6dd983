// The host's loop: what it does when, and what it passes on of its runs.
#include "runtime/host/host.h"

#include <algorithm>
#include <utility>

#include "base/abandon.h"
#include "base/ensure.h"
#include "runtime/listeners.h"

namespace tenon::runtime {
namespace {

/// How long the loop sleeps at most when nothing is due earlier and nothing wakes it. A wait for a time does not notice
/// that the machine was suspended, or that the wall clock was set, which the times of stored runs follow.
constexpr std::chrono::milliseconds look_interval{5'000};

/// Work with the store that is in progress ends, and so does what follows from it.
void finish_work(journal::AsyncStore& store) {
  while (store.in_progress() > 0) {
    store.finish();
    store.deliver();
  }
}

}  // namespace

Host::Host(Parts parts, HostOptions options)
    : parts_(std::move(parts)), options_(options), requests_(options.requests_max) {}

Host::~Host() {
  end();
  requests_.refuse_all(RequestQueue::stopping());  // of a host that has not begun
}

void Host::make_runtime() {
  listener_ = std::make_unique<HostListener>(HostListener::Parts{.observer = parts_.observer,
                                                                 .counts = counts_,
                                                                 .pending = pending_,
                                                                 .wakeups = parts_.store.wakeups(),
                                                                 .runtime = runtime_,
                                                                 .residents = residents_,
                                                                 .schedule = schedule_});
  if (parts_.listener != nullptr) {
    listeners_ = std::make_unique<Listeners>(std::vector<Listener*>{parts_.listener, listener_.get()});
  }
  runtime_ = std::make_unique<Runtime>(RuntimeDependencies{.model = parts_.model,
                                                           .extern_caller = parts_.extern_caller,
                                                           .clock = parts_.clock,
                                                           .listener = listeners_ ? listeners_.get() : listener_.get(),
                                                           .random_unit = parts_.random_unit,
                                                           .store = &parts_.store.owner().journals(),
                                                           .committer = &parts_.store.committer(),
                                                           .ownership = &parts_.store.owner().ownership(),
                                                           .secrets = parts_.secrets},
                                       options_.runtime);
}

void Host::begin(DrivenBy driver) {
  parts_.store.on_progress([this] { wake(); });
  make_runtime();
  const auto wall = [&clock = parts_.clock] { return wall_ms(clock); };
  const auto now = [&clock = parts_.clock] { return monotonic_ms(clock); };
  const auto report = [this](const std::string& message) {
    if (!is_ending_) parts_.observer.on_problem(message);
  };
  const auto report_solved = [this](const std::string& message) {
    if (!is_ending_) parts_.observer.on_solved(message);
  };
  notes_ = std::make_unique<StoreNotes>(
      StoreNotes::Parts{.store = parts_.store,
                        .secrets = parts_.secrets,
                        .clock = parts_.clock,
                        .replies_kept = options_.replies_kept,
                        .on_broken = [this](std::string_view message) { note_broken(message); },
                        .hosts_of = is_gateway() ? std::optional(options_.runtime.pools.here()) : std::nullopt});
  residents_ = std::make_unique<ResidentRuns>(*runtime_);
  loader_ = std::make_unique<RunLoader>(RunLoader::Parts{
      .store = parts_.store,
      .runtime = *runtime_,
      .residents = *residents_,
      .images = parts_.images,
      .model = parts_.model,
      .counts = counts_,
      .on_unread = [this](const journal::RunName& run) { schedule_->retry(run, RunSchedule::Reason::Other); },
      .now_ms = now,
      .wall_ms = wall});
  schedule_ = std::make_unique<RunSchedule>(RunSchedule::Parts{.store = parts_.store,
                                                               .runtime = *runtime_,
                                                               .residents = *residents_,
                                                               .loader = *loader_,
                                                               .now_ms = now,
                                                               .wall_ms = wall,
                                                               .report = report});
  lease_ = std::make_unique<LeaseFollower>(LeaseFollower::Parts{.store = parts_.store,
                                                                .runtime = *runtime_,
                                                                .loader = *loader_,
                                                                .schedule = *schedule_,
                                                                .pending = pending_,
                                                                .now_ms = now,
                                                                .report = report,
                                                                .report_solved = report_solved});
  const auto is_stopped = [this] { return is_broken_ || is_ending_; };
  gate_ = std::make_unique<RequestGate>(RequestGate::Parts{.store = parts_.store,
                                                           .runtime = *runtime_,
                                                           .notes = *notes_,
                                                           .loader = *loader_,
                                                           .pending = pending_,
                                                           .is_stopped = is_stopped,
                                                           .loads_runs = !is_gateway()});
  performing_ = std::make_unique<RunRequests>(
      RunRequests::Parts{.store = parts_.store,
                         .runtime = *runtime_,
                         .notes = *notes_,
                         .residents = *residents_,
                         .loader = *loader_,
                         .pending = pending_,
                         .counts = counts_,
                         .newest = parts_.newest,
                         .now_ms = wall,
                         .is_stopped = is_stopped,
                         .later = [this](std::function<void()> work) { later_.push_back(std::move(work)); },
                         .on_changed = [this](const journal::RunName& run) { parts_.observer.on_changed(run); }});
  forwarder_ = std::make_unique<RequestForwarder>(RequestForwarder::Parts{
      .store = parts_.store, .secrets = parts_.secrets, .now_ms = now, .wake = [this] { wake(); }});
  inbox_ = std::make_unique<InboxReader>(
      InboxReader::Parts{.store = parts_.store,
                         .now_ms = now,
                         .wake = [this] { wake(); },
                         .take = [this](const journal::Command& command) { router_->take_command(command); },
                         .report = report,
                         .counts = counts_});
  router_ = std::make_unique<RequestRouter>(
      RequestRouter::Parts{.gate = *gate_,
                           .performing = *performing_,
                           .forwarder = *forwarder_,
                           .inbox = *inbox_,
                           .secrets = parts_.secrets,
                           .now_ms = wall,
                           .resolve = parts_.resolve,
                           .pools = options_.runtime.pools,
                           .self = [this] { return parts_.store.owner().ownership().self(); },
                           .is_gateway = is_gateway()});
  parts_.store.wakeups().on_watched(
      [this](const journal::RunName& run) { repeat_text(run, HostListener::Follower::OtherOwners); });
  if (!is_gateway()) schedule_->begin();
  if (driver == DrivenBy::Caller) return;
  std::promise<void> ended;
  has_ended_ = ended.get_future();
  thread_ = std::thread([this, ended = std::move(ended)]() mutable {
    while (run_once(look_interval)) {
    }
    ended.set_value();
  });
}

void Host::end(std::chrono::milliseconds grace) {
  requests_.end(grace);
  if (thread_.joinable()) {
    wake();
    // A store that cannot be reached has as long as the effects have.
    if (has_ended_.wait_for(grace) != std::future_status::ready) parts_.store.stop_waiting();
    thread_.join();
  }
  parts_.store.stop_waiting();
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
  if (auto refusal = requests_.add({std::move(request), reply})) return reply(failure(std::move(*refusal)));
  wake();
}

bool Host::run_once(std::chrono::milliseconds wait) {
  try {
    return step(wait);
  } catch (const std::exception& problem) {  // BrokenCondition, or there is no memory
    abandon(problem.what());
    return false;
  }
}

/// Nothing of the host is in a known state: it is left as it is, without its destructors.
void Host::abandon(std::string_view message) {
  is_broken_ = true;
  parts_.observer.on_broken(message);
  try {
    const HostFailure why{HostFailure::Kind::Unavailable, std::string(message)};
    requests_.refuse_all(why);
    if (forwarder_) forwarder_->fail_all(why);
    pending_.fail_all(why);
  } catch (const std::exception&) {  // the other requests get no reply
    requests_.end(std::chrono::milliseconds{0});
  }
  parts_.store.wakeups().on_watched({});
  inbox_.reset();  // its thread would call the host, as would that of the next
  forwarder_.reset();
  tenon::abandon(router_);
  tenon::abandon(performing_);
  tenon::abandon(gate_);
  tenon::abandon(lease_);
  tenon::abandon(schedule_);
  tenon::abandon(loader_);
  tenon::abandon(residents_);
  tenon::abandon(notes_);
  tenon::abandon(runtime_);
  tenon::abandon(listeners_);
  tenon::abandon(listener_);
  parts_.store.finish();  // a commit whose outcome was not taken may still call the function
  parts_.store.on_progress({});
}

bool Host::step(std::chrono::milliseconds wait) {
  if (!runtime_) return false;
  waker_.clear();
  parts_.store.deliver();
  const auto ending = requests_.take();
  while (const auto request = requests_.next()) request->perform();
  for (const auto& work : std::exchange(later_, {})) work();
  if (ending) {
    finish(*ending);
    return false;
  }
  if (is_broken_) {
    waker_.wait(wait);
    return true;
  }
  lease_->poll();
  notes_->poll();
  if (!lease_->is_without_lease()) {
    forwarder_->poll();
    if (!is_gateway()) {
      inbox_->poll();
      schedule_->poll();
    }
  }
  const auto now = std::chrono::milliseconds{0};
  const auto next = std::min(wait, time_to_next());
  const bool has_worked = runtime_->poll(residents_->has_touched() ? now : next);
  retry_detached();
  if (is_broken_) return true;
  release_idle(options_.idle_runs_max);
  counts_.effects_under_way = runtime_->effects_in_progress();
  if (!has_worked && !residents_->has_touched()) waker_.wait(std::min(wait, time_to_next()));
  return true;
}

std::size_t Host::release_idle(std::size_t idle_max) {
  auto released = residents_->release_idle(idle_max);
  if (released.count > 0) {
    counts_.runs_released += released.count;
    schedule_->note_released();
  }
  counts_.resident = residents_->size();
  const std::size_t given_up = released.waiting.size();
  lease_->note_runs(residents_->size(), std::move(released.waiting));
  return given_up;
}

void Host::release_waiting(std::size_t count, std::function<void(std::size_t released)> then) {
  post(
      [this, count, then] {
        if (is_broken_ || is_ending_ || lease_->is_without_lease()) return then(0);
        then(release_idle(residents_->idle() - std::min(count, residents_->idle())));
      },
      [then](const HostReply& /*refused*/) { then(0); });
}

std::chrono::milliseconds Host::time_to_next() {
  if (!later_.empty()) return std::chrono::milliseconds{0};
  auto next = std::chrono::milliseconds::max();
  if (const auto time = runtime_->time_to_timer()) next = *time;
  next = std::min(next, notes_->time_to_next());
  next = std::min(next, lease_->time_to_next());
  if (lease_->is_without_lease()) return next;
  next = std::min(next, forwarder_->time_to_next());
  if (is_gateway()) return next;
  next = std::min(next, inbox_->time_to_next());
  if (const auto time = schedule_->time_to_next()) next = std::min(next, *time);
  return next;
}

void Host::finish(std::chrono::milliseconds grace) {
  is_ending_ = true;
  parts_.store.wakeups().on_watched({});
  loader_->stop(RequestQueue::stopping());
  finish_work(parts_.store);
  if (!is_broken_) {
    // What was taken becomes durable.
    if (grace.count() == 0) static_cast<void>(runtime_->poll(std::chrono::milliseconds{0}));
    const EffectsInProgress effects = runtime_->list_effects_in_progress();
    if (grace.count() > 0 && effects.count() > 0) parts_.observer.on_waiting(effects, grace);
    runtime_->drain(grace);
  }
  pending_.fail_all(RequestQueue::stopping());
  forwarder_->fail_all(RequestQueue::stopping());
  finish_work(parts_.store);
  inbox_.reset();
  forwarder_.reset();
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
  for (const auto& [run, why] : listener_->take_detached()) {
    if (why.error == journal::StoreError::Kind::Broken) note_broken(why.message);
    const bool is_others = why.refusal == journal::AppendRefusal::OldEpoch ||  //
                           why.refusal == journal::AppendRefusal::UnknownRun;
    if (is_others) {  // it does not come back by itself
      if (loader_->has_claimed(run)) schedule_->load(run);
      continue;
    }
    const bool is_full = why.error == journal::StoreError::Kind::Full;
    if (is_full) {
      schedule_->report_problem(why.message);
      notes_->note_full(why.bytes);
    }
    schedule_->retry(run, is_full ? RunSchedule::Reason::DiskFull : RunSchedule::Reason::Other);
  }
}

}  // namespace tenon::runtime
