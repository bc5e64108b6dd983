#include "engine/shared_engine.h"

#include <algorithm>
#include <new>
#include <system_error>

#include "base/abandon.h"
#include "base/signal_free_thread.h"
#include "tools/provided_functions.h"

namespace tenon::engine {
namespace {

using Steady = std::chrono::steady_clock;

/// The longest step. An engine that waits is woken earlier by its effects, by callers and by other processes. A notice
/// of another process may be lost, and a wait for a time does not notice that the machine was suspended or that the
/// wall clock was set.
constexpr std::chrono::milliseconds step_max{5'000};
/// A longer time is as good as none, and can be added to now.
constexpr std::chrono::milliseconds timeout_max = std::chrono::hours{24 * 365};

/// Within a handler: what was thrown, as the message of a BrokenCondition.
std::string describe_exception() {
  try {
    throw;
  } catch (const BrokenCondition& broken) {
    return broken.what();
  } catch (const std::bad_alloc&) {
    return "out of memory while the runs were continued";
  } catch (const std::exception& problem) {
    return std::string("an exception while the runs were continued: ") + problem.what();
  } catch (...) {
    return "an exception without a message while the runs were continued";
  }
}

}  // namespace

SharedEngine::Turn::Turn(SharedEngine& owner) : owner_(owner) {
  std::unique_lock lock(owner_.mutex_);
  owner_.throw_if_broken();
  owner_.acquire(lock);
}

SharedEngine::Turn::Turn(SharedEngine& owner, OnlyIfIdle /*condition*/) : owner_(owner), may_continue_(false) {
  const std::unique_lock lock(owner_.mutex_);
  owner_.throw_if_broken();
  const bool is_wanted =
      owner_.callers_ > 0 || !owner_.waiters_.empty() || !owner_.posted_.empty() || owner_.is_stopping_;
  has_engine_ = owner_.user_ == std::thread::id() && !is_wanted && !owner_.engine_->can_continue();
  if (has_engine_) owner_.user_ = std::this_thread::get_id();
}

SharedEngine::Turn::~Turn() {
  if (!has_engine_) return;
  const std::unique_lock lock(owner_.mutex_);
  if (may_continue_) owner_.may_continue_ = true;
  if (!owner_.is_broken_) owner_.look_after_step();
  owner_.release(lock);
}

SharedEngine::SharedEngine(std::unique_ptr<Engine> engine, std::function<bool(Engine&)> look)
    : engine_(std::move(engine)), used_(*engine_), functions_(used_.provided_functions()), look_(std::move(look)) {
  ENSURE(news_.is_open());
  used_.on_command([this] { take_command(); });
}

SharedEngine::~SharedEngine() {
  try {
    used_.on_command({});
    stop(std::chrono::milliseconds{0});
  } catch (...) {
    // It was given up, or there is no memory: there is no one left to report it to.
  }
}

bool SharedEngine::is_used_here() const {
  const std::scoped_lock lock(mutex_);
  return user_ == std::this_thread::get_id() || outside_.is_here();
}

void SharedEngine::throw_if_broken() const {
  if (!is_broken_) return;
  throw BrokenCondition(why_broken_.empty() ? "the engine was given up: out of memory" : why_broken_);
}

/// Callers come before threads that continue the runs.
void SharedEngine::acquire(std::unique_lock<std::mutex>& lock) {
  const auto self = std::this_thread::get_id();
  ENSURE(user_ != self);
  if (user_ != std::thread::id()) {
    ++callers_;
    engine_->wake();
    free_.wait(lock, [this] { return user_ == std::thread::id() || is_broken_; });
    --callers_;
    throw_if_broken();
  }
  user_ = self;
}

void SharedEngine::post(std::function<void(Engine&)> use) {
  const std::unique_lock lock(mutex_);
  throw_if_broken();
  posted_.push_back(std::move(use));
  may_continue_ = true;
  if (posted_.size() > 1) return;  // who takes the first one takes all
  if (user_ != std::thread::id()) {
    engine_->wake();
  } else {
    release(lock);
  }
}

/// On another thread. No caller may be waiting who would continue the runs.
void SharedEngine::take_command() {
  try {
    start_thread();
    post([](Engine&) {});
  } catch (...) {
    // Each caller gets it; or there is no memory, and the next command tries again.
  }
}

/// With the engine in use.
void SharedEngine::run_posted() {
  for (;;) {
    std::vector<std::function<void(Engine&)>> posted;
    {
      const std::scoped_lock lock(mutex_);
      posted.swap(posted_);
    }
    if (posted.empty()) return;
    try {
      for (const auto& use : posted) use(*engine_);
    } catch (const BrokenCondition&) {
      throw;
    } catch (...) {  // what was posted after it is lost
      throw BrokenCondition(describe_exception());
    }
  }
}

/// Whether a thread that continues the runs has something to do. With the mutex locked.
bool SharedEngine::has_work() const {
  return may_continue_ || engine_->can_continue();
}

/// Whether a thread that waits for a run can continue the runs.
bool SharedEngine::has_driver() const {
  return std::ranges::any_of(waiters_, [](const Waiter* waiter) { return !waiter->is_outside; });
}

/// Wakes the thread that uses the engine next: a caller, or else one that waits for a run. False: there is none.
bool SharedEngine::wake_next() {
  if (callers_ > 0) {
    free_.notify_one();
    return true;
  }
  const auto next =
      std::ranges::find_if(waiters_, [](const Waiter* waiter) { return !waiter->is_done && !waiter->is_outside; });
  if (next == waiters_.end()) return false;
  (*next)->changed.notify_one();
  return true;
}

/// Wakes one of the engine's own threads to continue the runs. While one is in a call, there is another one.
void SharedEngine::wake_own() {
  own_.notify_one();
  if (!outside_.is_own() || is_stopping_ || spare_.joinable()) return;
  try {
    spare_ = start_signal_free_thread([this] { loop(); });
  } catch (const std::system_error&) {
    // The system starts no more threads: the one that is in the call continues the runs afterwards.
  }
}

/// Passes the engine on: to a caller, or else to a thread that waits for a run, or else to one of its own, which is
/// not woken in vain.
void SharedEngine::release(const std::unique_lock<std::mutex>& /*lock*/) {
  user_ = {};
  if (!wake_next() && !is_broken_ && has_work()) wake_own();
}

/// Whether the wait is over. An exception of the question is that of the wait.
bool SharedEngine::is_over(Waiter& waiter, Engine& engine) {
  try {
    return waiter.is_met(engine);
  } catch (const BrokenCondition&) {
    throw;
  } catch (...) {
    waiter.problem = std::current_exception();
    return true;
  }
}

/// With the mutex locked and the engine in use: ends the waits that are over.
void SharedEngine::look_after_step() noexcept {
  bool has_news = false;
  try {
    if (look_) has_news = look_(*engine_);
    for (Waiter* const waiter : waiters_) {
      if (waiter->is_done) continue;
      waiter->is_done = is_over(*waiter, *engine_);
      if (!std::exchange(waiter->is_asked, true) || waiter->is_done) waiter->changed.notify_one();
    }
  } catch (...) {
    return give_up_locked();
  }
  if (!has_descriptor_) return;
  if (has_news || engine_->has_event()) {
    news_.wake();
  } else {
    news_.clear();
  }
}

/// With the mutex locked and the engine in use.
void SharedEngine::step(std::unique_lock<std::mutex>& lock, std::chrono::milliseconds wait) {
  lock.unlock();
  try {
    using LoneCalls = tools::ProvidedFunctions::LoneCalls;
    // A thread that only takes a turn makes no call that may block.
    if (functions_ != nullptr) functions_->make_lone_calls(wait.count() > 0 ? LoneCalls::Outside : LoneCalls::None);
    run_posted();
    static_cast<void>(engine_->step(std::min(wait, step_max)));
  } catch (...) {
    lock.lock();
    give_up_locked();
    release(lock);
    throw_if_broken();
  }
  lock.lock();
  look_after_step();
}

/// With the mutex locked and the engine in use, after a step: makes the call that is to be made outside, if there is
/// one. Returns whether there was: then this thread does not use the engine any more. `waiter`: of this thread; null:
/// it waits for no run.
bool SharedEngine::make_outside_call(std::unique_lock<std::mutex>& lock, Thread thread, Waiter* waiter) {
  const bool may_have_call = functions_ != nullptr && !is_broken_;
  const std::shared_ptr<tools::OutsideCall> call = may_have_call ? functions_->take_outside() : nullptr;
  if (call == nullptr) return false;
  user_ = {};
  outside_.begin(thread == Thread::Own);
  if (waiter != nullptr) waiter->is_outside = true;
  if (callers_ > 0) {
    free_.notify_one();
  } else if (!posted_.empty() && !wake_next()) {
    wake_own();
  }
  lock.unlock();
  call->make();
  lock.lock();
  outside_.end();
  if (waiter != nullptr) waiter->is_outside = false;
  return_call(call);
  return true;
}

/// With the mutex locked: a call that was made outside has ended.
void SharedEngine::return_call(const std::shared_ptr<tools::OutsideCall>& call) noexcept {
  if (is_broken_) return;
  may_continue_ = true;
  try {
    if (user_ != std::thread::id()) {
      call->finish();
    } else if (!is_stopped_) {
      posted_.insert(posted_.begin(), [this, call](Engine&) { functions_->take_back(call); });
    }
  } catch (...) {
    give_up_locked();
  }
}

/// Within a handler of the exception: the engine is not used any more.
void SharedEngine::give_up() noexcept {
  const std::scoped_lock lock(mutex_);
  give_up_locked();
}

void SharedEngine::give_up_locked() noexcept {
  if (std::exchange(is_broken_, true)) return;
  try {
    why_broken_ = describe_exception();
  } catch (...) {
    why_broken_.clear();
  }
  abandon(engine_);
  for (Waiter* const waiter : waiters_) waiter->changed.notify_one();
  free_.notify_all();
  own_.notify_all();
  news_.wake();
}

bool SharedEngine::wait(std::function<bool(Engine&)> is_met, std::chrono::milliseconds timeout, IdleEngine idle) {
  const auto end = Steady::now() + std::min(timeout, timeout_max);
  std::unique_lock lock(mutex_);
  throw_if_broken();
  ENSURE(user_ != std::this_thread::get_id());
  Waiter self{is_met, {}, false};
  bool may_take_turn = timeout.count() == 0 && !has_thread_;
  const std::uint64_t interrupts = interrupts_;
  const auto place = waiters_.insert(waiters_.end(), &self);
  try {
    while (!self.is_done) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Steady::now());
      const bool is_over = left.count() <= 0 || interrupts_ != interrupts;
      if (user_ != std::thread::id() || callers_ > 0) {
        if (!self.is_asked) {
          engine_->wake();
          self.changed.wait(lock);  // as a caller, until the thread that uses the engine asks
        } else if (is_over) {
          break;
        } else {
          self.changed.wait_for(lock, left);
        }
        throw_if_broken();
        continue;
      }
      look_after_step();
      throw_if_broken();
      if (self.is_done || is_stopped_) break;
      if (is_over && !std::exchange(may_take_turn, false)) break;
      if (!engine_->can_continue() && !may_continue_) {
        if (idle == IdleEngine::GiveUp) break;
        self.changed.wait_for(lock, left);  // until another thread changes that
        throw_if_broken();
        continue;
      }
      user_ = std::this_thread::get_id();
      may_continue_ = false;
      step(lock, std::max(left, std::chrono::milliseconds{0}));
      if (!make_outside_call(lock, Thread::Callers, &self)) user_ = {};
      throw_if_broken();
      if (callers_ > 0) free_.notify_one();
    }
  } catch (...) {
    waiters_.erase(place);
    throw;
  }
  waiters_.erase(place);
  // Who has continued the runs passes them on.
  if (user_ == std::thread::id()) release(lock);
  if (self.problem) std::rethrow_exception(self.problem);
  return self.is_done;
}

std::optional<RunEvent> SharedEngine::next_event(std::chrono::milliseconds timeout, std::optional<runtime::RunId> run) {
  std::optional<RunEvent> event;
  static_cast<void>(wait(
      [&](Engine& engine) {
        event = engine.take_event(run);
        return event.has_value();
      },
      timeout));
  return event;
}

void SharedEngine::take_turn() {
  if (has_thread_) return;
  std::unique_lock lock(mutex_);
  throw_if_broken();
  const bool is_free = user_ == std::thread::id() && callers_ == 0;
  if (!is_free || is_stopping_ || !has_work()) return;
  user_ = std::this_thread::get_id();
  may_continue_ = false;
  step(lock, std::chrono::milliseconds{0});
  if (!make_outside_call(lock, Thread::Callers) || user_ == std::thread::id()) release(lock);
}

void SharedEngine::interrupt() {
  const std::scoped_lock lock(mutex_);
  ++interrupts_;
  for (Waiter* const waiter : waiters_) waiter->changed.notify_one();
  if (user_ != std::thread::id()) engine_->wake();
}

void SharedEngine::start_thread() {
  const std::scoped_lock lock(mutex_);
  throw_if_broken();
  if (is_stopping_ || thread_.joinable()) return;
  thread_ = start_signal_free_thread([this] { loop(); });
  has_thread_ = true;
}

int SharedEngine::descriptor() {
  start_thread();
  call([this](Engine&) { has_descriptor_ = true; });
  return news_.descriptor();
}

void SharedEngine::loop() {
  std::unique_lock lock(mutex_);
  const auto is_free = [this] { return user_ == std::thread::id() && callers_ == 0 && !has_driver(); };
  for (;;) {
    own_.wait(lock, [&] { return is_broken_ || is_stopping_ || (is_free() && has_work()); });
    if (is_broken_ || is_stopping_) return;
    if (const auto takeover = outside_.takeover()) {
      own_.wait_until(lock, *takeover);
      continue;
    }
    user_ = std::this_thread::get_id();
    may_continue_ = false;
    try {
      step(lock, step_max);
    } catch (...) {
      return;  // each caller gets it
    }
    if (!make_outside_call(lock, Thread::Own)) user_ = {};
    if (is_broken_) return;
    // Otherwise this thread continues the runs.
    if (user_ == std::thread::id()) static_cast<void>(wake_next());
  }
}

void SharedEngine::stop(std::chrono::milliseconds grace) {
  {
    const std::scoped_lock lock(mutex_);
    is_stopping_ = true;
    own_.notify_all();
    if (!is_broken_) engine_->wake();
  }
  if (thread_.joinable()) thread_.join();
  if (spare_.joinable()) spare_.join();
  {
    const std::scoped_lock lock(mutex_);
    if (is_broken_ || is_stopped_) return;
  }
  call([&](Engine& engine) {
    engine.stop(grace);
    is_stopped_ = true;
  });
}

}  // namespace tenon::engine
