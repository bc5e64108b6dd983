#include "core/call_queue.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/externs.h"
#include "core/gil.h"

namespace tenon::python {
namespace {

/// A thread that has nothing to do for so long ends.
constexpr std::chrono::seconds idle_max{10};
/// A call that takes longer blocks, as far as the next thread is concerned.
constexpr std::chrono::microseconds watch_max{200};

/// The engine whose function this thread performs, if that may not use it.
thread_local const void* served = nullptr;
/// The engine that waits for this thread, which is its own.
thread_local const void* awaited = nullptr;

void give_up(tenon_call* call) {
  tenon_fail_interrupted(call, "the function was not called: its engine was stopped");
  tenon_finish(call);
}

}  // namespace

CallQueue::CallQueue(nb::object start_thread, std::size_t threads_max)
    : start_thread_(std::move(start_thread)), threads_max_(threads_max) {}

void CallQueue::add(std::shared_ptr<Extern> performer, tenon_call* call) {
  {
    std::unique_lock lock(mutex_);
    if (is_closed_) {
      lock.unlock();
      return give_up(call);
    }
    waiting_.push_back({std::move(performer), call});
    if (!call_thread()) return;
  }
  start_thread(false);
}

/// Has a thread take the next call, unless there is none, or one is about to. Returns whether one must be started.
bool CallQueue::call_thread() {
  if (waiting_.empty() || entering_ != Entering::None) return false;
  if (sleeping_ > 0) {
    entering_ = Entering::Called;
    added_.notify_one();
    return false;
  }
  if (threads_ >= threads_max_) return false;  // the first that has made its call
  entering_ = Entering::Claimed;
  ++threads_;
  return true;
}

/// `has_lock`: whether the caller has the interpreter's lock.
void CallQueue::start_thread(bool has_lock) {
  std::string why = "the interpreter ends";
  bool may_end = false;
  {
    const Callback callback;
    if (callback.is_allowed()) {
      try {
        start_thread_();
        return;
      } catch (nb::python_error& error) {
        if (error.matches(PyExc_KeyboardInterrupt)) {
          PyErr_SetInterrupt();  // raised again where the thread waits for the run
          why = "interrupted";
        } else {
          why = nb::str(error.value()).c_str();
          may_end = is_before_end();
        }
      }
    }
  }
  const bool has_ended = may_end && (has_lock ? without_lock(await_end) : await_end());
  std::deque<Waiting> left;
  {
    const std::scoped_lock lock(mutex_);
    entering_ = Entering::None;
    if (--threads_ > 0 || has_ended) return;  // the other threads take the call, or no one does
    left.swap(waiting_);
  }
  why = "no thread could be started for the function: " + why;
  for (const Waiting& one : left) {
    tenon_fail_unavailable(one.call, why.c_str());
    tenon_finish(one.call);
  }
}

bool CallQueue::cancel(const tenon_call* call) {
  Waiting found;
  {
    const std::scoped_lock lock(mutex_);
    if (taken_.contains(call)) return true;
    const auto place = std::ranges::find(waiting_, call, &Waiting::call);
    if (place == waiting_.end()) return false;
    found = std::move(*place);
    waiting_.erase(place);
  }
  give_up(found.call);
  return true;
}

bool CallQueue::pop(Waiting& next) {
  if (waiting_.empty() || is_closed_) return false;
  next = std::move(waiting_.front());
  waiting_.pop_front();
  taken_.insert(next.call);
  ++taken_count_;
  return true;
}

bool CallQueue::is_empty() {
  const std::scoped_lock lock(mutex_);
  return waiting_.empty();
}

/// Waits until this thread is called. Returns false if it ends instead. Without the interpreter's lock.
bool CallQueue::await_call() {
  std::unique_lock lock(mutex_);
  if (entering_ == Entering::Watching) entering_ = waiting_.empty() ? Entering::None : Entering::Called;
  ++sleeping_;
  bool is_called = true;
  while (is_called) {
    added_.wait_for(lock, idle_max, [this] { return is_closed_ || entering_ == Entering::Called; });
    is_called = !is_closed_ && entering_ == Entering::Called;
    if (is_called && is_needed(lock)) break;
  }
  --sleeping_;
  if (is_called) {
    entering_ = Entering::Claimed;
  } else {
    --threads_;
  }
  return is_called;
}

/// Beside a thread of Python that computes, a thread that waits for the interpreter's lock delays those that have
/// something to do. So it watches first whether the one that makes calls does so quickly. Returns false if no call is
/// left.
bool CallQueue::is_needed(std::unique_lock<std::mutex>& lock) {
  if (!is_contended_) return true;
  entering_ = Entering::Watching;
  while (sleeping_ < threads_) {
    if (waiting_.empty()) {
      entering_ = Entering::None;
      return false;
    }
    const std::size_t before = taken_count_;
    added_.wait_for(lock, watch_max, [this] { return is_closed_ || entering_ != Entering::Watching; });
    if (is_closed_ || entering_ != Entering::Watching) return false;
    if (taken_count_ == before) break;
  }
  return true;
}

nb::object CallQueue::take(bool is_first) {
  served = nullptr;
  bool is_entering = is_first;
  bool is_called = false;
  bool is_contended = false;
  for (;;) {
    Waiting next;
    bool has_next = false;
    bool needs_thread = false;
    {
      const std::scoped_lock lock(mutex_);
      if (is_entering) entering_ = Entering::None;
      if (is_called) is_contended_ = is_contended;
      has_next = pop(next);
      needs_thread = call_thread();  // this one may block in its call
    }
    if (needs_thread) start_thread(true);
    if (!has_next) {
      is_entering = is_called = false;
      const Waited waited = wait_released([this] { return !is_empty(); }, [&] { is_called = await_call(); });
      if (waited == Waited::Not) continue;
      if (!is_called) return nb::none();
      is_contended = waited == Waited::Contended;
      is_entering = true;
      continue;
    }
    is_entering = is_called = false;
    note_release();
    nb::object begun = next.performer->begin(next.call);
    if (begun.is_none()) continue;
    if (next.performer->thread() == ExternThread::Suitable) served = this;
    return begun;
  }
}

CallQueue::Serving::Serving(const CallQueue& queue)
    : served_before_(std::exchange(served, &queue)), awaited_before_(std::exchange(awaited, &queue)) {}

CallQueue::Serving::~Serving() {
  served = served_before_;
  awaited = awaited_before_;
}

bool CallQueue::is_served_here() const {
  return served == this;
}

bool CallQueue::is_awaited_here() const {
  return awaited == this;
}

void CallQueue::forget(const void* call) {
  const std::scoped_lock lock(mutex_);
  taken_.erase(call);
}

void CallQueue::close() {
  std::deque<Waiting> left;
  {
    const std::scoped_lock lock(mutex_);
    is_closed_ = true;
    left.swap(waiting_);
    added_.notify_all();
  }
  for (const Waiting& one : left) give_up(one.call);
}

}  // namespace tenon::python
