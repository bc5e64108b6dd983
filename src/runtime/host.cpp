// The host's thread: what it does when, and which runs are in memory.
#include "runtime/host.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/ensure.h"
#include "runtime/listeners.h"

namespace tenon::runtime {
namespace {

/// How long the thread sleeps at most: so old may a command of another process be when it is seen.
constexpr std::chrono::milliseconds nap{100};
/// Runs that are read from the store between two looks at the requests.
constexpr std::size_t loads_per_round = 32;
/// The wait after a run could not continue, or a due one did not. While the disk is full the waits grow.
constexpr std::int64_t retry_ms = 1'000;
constexpr std::int64_t retry_ms_max = 60'000;
constexpr std::int64_t due_again_ms = 20;

}  // namespace

Host::Host(Parts parts, HostOptions options) : parts_(std::move(parts)), options_(options) {}

Host::~Host() {
  end();
}

void Host::begin() {
  committer_ = std::make_unique<journal::ThreadCommitter>(parts_.store->journals(), [this] {
    parts_.model.wake();
    if (parts_.extern_caller != nullptr) parts_.extern_caller->wake();
  });
  if (parts_.listener != nullptr) {
    listeners_ = std::make_unique<Listeners>(std::vector<Listener*>{parts_.listener, this});
  }
  runtime_ = std::make_unique<Runtime>(RuntimeDependencies{.model = parts_.model,
                                                           .extern_caller = parts_.extern_caller,
                                                           .clock = parts_.clock,
                                                           .listener = listeners_ ? listeners_.get() : this,
                                                           .random_unit = parts_.random_unit,
                                                           .store = &parts_.store->journals(),
                                                           .committer = committer_.get(),
                                                           .secrets = parts_.secrets},
                                       options_.runtime);
  notes_ =
      std::make_unique<StoreNotes>(StoreNotes::Parts{.store = *parts_.store,
                                                     .reader = *parts_.reader,
                                                     .secrets = parts_.secrets,
                                                     .clock = parts_.clock,
                                                     .replies_kept = options_.replies_kept,
                                                     .finish_commit = [this] { static_cast<void>(runtime_->store()); },
                                                     .on_broken =
                                                         [this](std::string_view message) {
                                                           if (!std::exchange(is_broken_, true))
                                                             parts_.observer.on_broken(message);
                                                         }});
  journal::RunFilter running;
  running.state = journal::RunState::Running;
  auto heads = parts_.store->runs().list(running);
  if (heads) {
    for (journal::RunHead& head : *heads) to_load_.push_back(std::move(head.run));
  } else {
    parts_.observer.on_problem(heads.error().message);
  }
  inbox_ = parts_.store->wakeups().subscribe([this] {
    has_inbox_notice_ = true;
    runtime_->wake();
  });
  thread_ = std::thread([this] { loop(); });
}

void Host::end(std::chrono::milliseconds grace) {
  {
    const std::scoped_lock lock(mutex_);
    if (!ending_) ending_ = grace;
  }
  changed_.notify_all();
  if (runtime_) runtime_->wake();
  if (thread_.joinable()) thread_.join();
}

std::int64_t Host::now_ms() const {
  return std::chrono::duration_cast<std::chrono::milliseconds>(parts_.clock.wall().time_since_epoch()).count();
}

HostFailure Host::stopping() const {
  return {HostFailure::Kind::Unavailable, "the server is stopping; send it again when it is back"};
}

void Host::post(std::function<void()> request, const OnReply& reply) {
  std::optional<HostFailure> refusal;
  {
    const std::scoped_lock lock(mutex_);
    if (ending_) {
      refusal = stopping();
    } else if (requests_.size() >= options_.requests_max) {
      refusal = HostFailure{HostFailure::Kind::Unavailable, "too many requests wait; send it again in a while"};
    } else {
      requests_.push_back(std::move(request));
    }
  }
  if (refusal) return reply(failure(std::move(*refusal)));
  changed_.notify_one();
  runtime_->wake();
}

void Host::loop() {
  for (;;) {
    if (!take_requests()) break;
    if (is_broken_) {
      wait_for_work();
      continue;
    }
    take_inbox();
    load_some();
    load_due();
    const bool has_waited = runtime_->poll(touched_.empty() ? nap : std::chrono::milliseconds{0});
    drop_idle();
    counts_.resident = resident_.size();
    counts_.effects_under_way = runtime_->effects_under_way();
    if (!has_waited) wait_for_work();
  }
  if (!is_broken_) {
    // What was taken becomes durable.
    if (ending_->count() == 0) static_cast<void>(runtime_->poll(std::chrono::milliseconds{0}));
    runtime_->drain(*ending_);
  }
  inbox_.reset();
  auto pending = std::exchange(pending_, {});
  for (auto& [run, one] : pending) one.reply(failure(stopping()));
  runtime_.reset();
}

/// False when the host ends: all requests are refused then.
bool Host::take_requests() {
  std::deque<std::function<void()>> requests;
  bool is_ending = false;
  {
    const std::scoped_lock lock(mutex_);
    requests.swap(requests_);
    is_ending = ending_.has_value();
  }
  for (const auto& request : requests) request();
  return !is_ending;
}

void Host::wait_for_work() {
  auto wait = nap;
  if (const auto timer = runtime_->time_to_timer()) wait = std::min(wait, *timer);
  if (next_due_) wait = std::min(wait, std::chrono::milliseconds(std::max<std::int64_t>(*next_due_ - now_ms(), 1)));
  if (!to_load_.empty() && load_not_before_ <= now_ms()) return;
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, wait, [this] { return ending_ || !requests_.empty(); });
}

Result<RunId, HostFailure> Host::load(const journal::RunName& run) {
  if (const auto found = resident_.find(run.text); found != resident_.end()) {
    touch(found->second);
    return found->second;
  }
  const auto head = parts_.reader->journals().head(run);
  if (!head) return failure(make_failure(head.error()));
  if (journal::has_ended(head->summary.state)) {
    return failure(HostFailure{HostFailure::Kind::Conflict,
                               fmt::format("the run has ended ({})", journal::name_of(head->summary.state))});
  }
  auto same = Runtime::SameModel::No;
  if (parts_.model.follows_a_script() && script_followed_.insert(run.text).second) same = Runtime::SameModel::Yes;
  const auto id = runtime_->resume(run, parts_.images, same);
  if (!id) {
    if (id.error().store) return failure(make_failure({*id.error().store, id.error().message}));
    return failure(HostFailure{HostFailure::Kind::Damaged, id.error().message});
  }
  if (hosted_.size() <= id->index) hosted_.resize(id->index + 1);
  hosted_[id->index] = Hosted{run, 0, false, {}, {}};
  resident_.emplace(run.text, *id);
  ++counts_.runs_loaded;
  touch(*id);
  return *id;
}

/// Resumes runs that were cut off, a few at a time.
void Host::load_some() {
  if (to_load_.empty() || load_not_before_ > now_ms()) return;
  if (retry_ms_ > 0 && !has_room(to_load_.front())) {
    retry_ms_ = std::min(2 * retry_ms_, retry_ms_max);
    load_not_before_ = now_ms() + retry_ms_;
    return;
  }
  for (std::size_t count = 0; count < loads_per_round && !to_load_.empty(); ++count) {
    journal::RunName run = std::move(to_load_.front());
    to_load_.pop_front();
    const auto id = load(run);
    if (id) {
      reported_problem_.clear();
    } else if (id.error().kind == HostFailure::Kind::Unavailable) {
      // For example without space on the disk: it continues when there is some again.
      report_problem(id.error().message);
      to_load_.push_front(std::move(run));
      load_not_before_ = now_ms() + retry_ms;
      return;
    } else if (id.error().kind == HostFailure::Kind::Damaged) {
      parts_.observer.on_problem(id.error().message);
    }
  }
}

bool Host::has_room(const journal::RunName& run) {
  const auto head = runtime_->store().claim(run);
  if (!head) return true;  // `load` reports why
  journal::Append nothing_new;
  nothing_new.run = run;
  nothing_new.epoch = head->epoch;
  nothing_new.first = head->records + 1;
  nothing_new.summary = head->summary;
  const auto committed = runtime_->store().commit({&nothing_new, 1});
  return committed.has_value() || committed.error().kind != journal::StoreError::Kind::Full;
}

/// Runs whose time has come are read, and their timers fire.
void Host::load_due() {
  if (!is_due_known_) {
    const auto next = parts_.reader->runs().next_due();
    next_due_ = next ? *next : std::nullopt;
    is_due_known_ = true;
  }
  const std::int64_t now = now_ms();
  if (!next_due_ || *next_due_ > now || due_not_before_ > now) return;
  due_not_before_ = now + due_again_ms;
  is_due_known_ = false;
  // Those in memory fire by themselves, and are not due any more when that is recorded.
  const auto heads = parts_.reader->runs().due(now, loads_per_round + resident_.size());
  if (!heads) return;
  std::size_t count = 0;
  for (const journal::RunHead& head : *heads) {
    if (resident_.contains(head.run.text)) continue;
    if (const auto id = load(head.run); !id) {
      if (id.error().kind != HostFailure::Kind::Conflict) report_problem(id.error().message);
      due_not_before_ = now + retry_ms;
    }
    if (++count == loads_per_round) break;
  }
}

void Host::report_problem(const std::string& message) {
  if (std::exchange(reported_problem_, message) != message) parts_.observer.on_problem(message);
}

void Host::touch(RunId run) {
  Hosted& hosted = hosted_[run.index];
  if (hosted.idle_since != 0) idle_.erase(std::exchange(hosted.idle_since, 0));
  if (std::exchange(hosted.is_touched, true)) return;
  touched_.push_back(run);
}

/// Of the runs that something has happened to, those that have ended leave the memory, and of those that wait the ones
/// that have waited longest.
void Host::drop_idle() {
  for (const RunId run : std::exchange(detached_, {})) {
    const auto& detached = std::get<RunDetached>(*runtime_->end(run));
    if (detached.error == journal::StoreError::Kind::Broken && !std::exchange(is_broken_, true)) {
      parts_.observer.on_broken(detached.message);
    }
    if (detached.error == journal::StoreError::Kind::Full) {
      report_problem(detached.message);
      retry_ms_ = std::clamp(2 * retry_ms_, retry_ms, retry_ms_max);
    }
    to_load_.push_back(hosted_[run.index].name);
    load_not_before_ = now_ms() + std::max(retry_ms_, retry_ms);
  }
  if (is_broken_) return;
  for (const RunId run : std::exchange(touched_, {})) {
    Hosted& hosted = hosted_[run.index];
    hosted.is_touched = false;
    if (hosted.name.text.empty()) continue;
    if (!runtime_->is_idle(run)) continue;  // it is touched again when it has come to something
    if (runtime_->end(run)) {
      release(run);
    } else {
      hosted.idle_since = ++idle_counter_;
      idle_.emplace(hosted.idle_since, run);
    }
  }
  while (idle_.size() > options_.idle_runs_max) {
    const RunId run = idle_.begin()->second;
    if (runtime_->is_idle(run)) {
      release(run);
    } else {
      // Its timer has fired, and what that led to is just being committed: it is touched then.
      idle_.erase(std::exchange(hosted_[run.index].idle_since, 0));
    }
  }
}

void Host::release(RunId run) {
  Hosted& hosted = hosted_[run.index];
  if (hosted.idle_since != 0) idle_.erase(hosted.idle_since);
  resident_.erase(hosted.name.text);
  runtime_->release(run);
  hosted = Hosted{};
  is_due_known_ = false;
  ++counts_.runs_released;
}

void Host::fail_pending(RunId run, const HostFailure& why) {
  std::vector<Pending> failed;
  const auto [begin, end] = pending_.equal_range(run.index);
  for (auto at = begin; at != end; ++at) failed.push_back(std::move(at->second));
  pending_.erase(begin, end);
  for (Pending& pending : failed) {
    under_way_.erase(pending.request_key);
    pending.reply(failure(why));
  }
}

void Host::on_recorded(const RecordBatch& batch) {
  const auto& [run, program, first, records, texts] = batch;
  Hosted& hosted = hosted_[run.index];
  counts_.records += records.size();
  retry_ms_ = 0;
  is_due_known_ = false;
  touch(run);
  for (const effects::Record& record : records) {
    if (const auto* finished = std::get_if<effects::Finished>(&record.body)) hosted.writing.erase(finished->key);
  }
  parts_.observer.on_recorded(hosted.name, runtime_->title(run), first, records);
  const auto is_there = [&](const Pending& pending) {
    switch (pending.until) {
      case Pending::Until::Started:
        return first == 1;
      case Pending::Until::Prompted:
        return std::any_of(records.begin(), records.end(), [](const effects::Record& record) {
          return std::holds_alternative<effects::TurnStarted>(record.body);
        });
      case Pending::Until::Answered:
        return std::any_of(records.begin(), records.end(), [&](const effects::Record& record) {
          const auto* finished = std::get_if<effects::Finished>(&record.body);
          const auto* continued = std::get_if<effects::Continued>(&record.body);
          return (finished != nullptr && finished->key == pending.accepted.wait) ||
                 (continued != nullptr && continued->key == pending.accepted.wait);
        });
      case Pending::Until::Retried:
        return std::any_of(records.begin(), records.end(), [](const effects::Record& record) {
          const auto* const attempted = std::get_if<effects::Attempted>(&record.body);
          return attempted != nullptr && attempted->what == effects::Attempted::What::Retried;
        });
      case Pending::Until::Ended:
        return std::any_of(records.begin(), records.end(), [](const effects::Record& record) {
          return std::holds_alternative<effects::CancelWanted>(record.body) ||
                 std::holds_alternative<effects::Ended>(record.body) ||
                 std::holds_alternative<effects::TurnEnded>(record.body);
        });
    }
    return false;
  };
  auto [at, end] = pending_.equal_range(run.index);
  while (at != end) {
    if (!is_there(at->second)) {
      ++at;
      continue;
    }
    Pending pending = std::move(at->second);
    at = pending_.erase(at);
    under_way_.erase(pending.request_key);
    pending.reply(std::move(pending.accepted));
  }
}

void Host::on_generation_started(const SentGeneration& generation) {
  const PerformedEffect& effect = generation.effect;
  auto& writing = hosted_[effect.run.index].writing;
  const auto found = writing.find(effect.key);
  Writing& begun = (found == writing.end() ? writing.emplace(std::string(effect.key), Writing{}).first : found)->second;
  begun.is_answer = generation.is_streamed_output;
  begun.depth = effect.depth;
  begun.agent = effect.agent.empty() ? runtime_->title(effect.run) : std::string(effect.agent);
}

void Host::on_text(RunId run, std::string_view key, std::uint32_t attempt, std::uint32_t transport_attempt,
                   std::string_view piece) {
  Hosted& hosted = hosted_[run.index];
  auto found = hosted.writing.find(key);
  if (found == hosted.writing.end()) found = hosted.writing.emplace(std::string(key), Writing{}).first;
  Writing& writing = found->second;
  const std::pair newest{attempt, transport_attempt};
  if (writing.attempts == 0 || writing.newest != newest) {
    ++writing.attempts;
    writing.newest = newest;
    writing.offset = 0;
  }
  parts_.observer.on_text(hosted.name, writing.agent,
                          {key, writing.attempts - 1, writing.offset, piece, writing.is_answer, writing.depth});
  writing.offset += piece.size();
}

void Host::on_run_ended(RunId run, const EndedRun& ended) {
  touch(run);
  if (const auto* detached = std::get_if<RunDetached>(&ended.end)) {
    detached_.push_back(run);
    return fail_pending(run, {HostFailure::Kind::Unavailable, detached->message});
  }
  ++counts_.runs_ended;
  fail_pending(run, {HostFailure::Kind::Conflict, "the run has ended"});
}

}  // namespace tenon::runtime
