#pragma once

#include <nanobind/nanobind.h>
#include <tenon/tenon.h>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <unordered_set>

// Calls of plain functions of Python, which threads of Python make.

namespace tenon::python {

namespace nb = nanobind;

class Extern;

/// Calls that wait for a thread. The engine adds them without the interpreter's lock; threads of Python `take` them. A
/// thread is started when all others are busy, and ends when it had nothing to do for some seconds. One thread at a
/// time waits for the lock in order to take a call, and makes all that are quick: each thread that waits for the lock
/// beside a thread that computes waits for a switch interval of the interpreter.
class CallQueue {
 public:
  /// `start_thread()` starts a thread of Python that calls `take` until it gets None. `threads_max`: so many at most;
  /// 0: there are none, and nothing may be added.
  CallQueue(nb::object start_thread, std::size_t threads_max);
  CallQueue(const CallQueue&) = delete;
  CallQueue& operator=(const CallQueue&) = delete;

  [[nodiscard]] bool has_threads() const { return threads_max_ > 0; }

  // Any thread, without the lock.
  /// A call that was deferred.
  void add(std::shared_ptr<Extern> performer, tenon_call* call);
  /// The result of a call is not needed any more: one that waits is not made. Returns whether it is one of this queue.
  bool cancel(const tenon_call* call);

  // With the lock.
  /// Waits for a call. Returns it as Extern::begin does; None: the thread ends. `is_first`: of this thread.
  [[nodiscard]] nb::object take(bool is_first);
  /// Whether this thread performs a plain function of the engine that is called on the engine's thread, or may as well
  /// be. It cannot use the engine then, wherever it is called.
  [[nodiscard]] bool is_served_here() const;
  /// Whether this thread performs one on the engine's thread: the engine, or the host, waits for it.
  [[nodiscard]] bool is_awaited_here() const;
  /// This thread performs a function of the engine on the engine's thread, as long as this exists.
  class Serving {
   public:
    explicit Serving(const CallQueue& queue);
    ~Serving();
    Serving(const Serving&) = delete;
    Serving& operator=(const Serving&) = delete;

   private:
    // Of another engine, whose function has called this one.
    const void* served_before_;
    const void* awaited_before_;
  };
  /// A call that was taken has ended.
  void forget(const void* call);
  /// Calls that wait are not made, and threads end with their calls.
  void close();

 private:
  struct Waiting {
    std::shared_ptr<Extern> performer;
    tenon_call* call = nullptr;
  };
  /// The thread that will take a call, and has not got the interpreter's lock yet.
  enum class Entering {
    None,
    Called,    ///< one of those that sleep
    Watching,  ///< one that was woken, if the thread that makes calls now blocks
    Claimed,   ///< one that was woken or started
  };
  [[nodiscard]] bool call_thread();
  void start_thread(bool has_lock);
  [[nodiscard]] bool await_call();
  [[nodiscard]] bool is_needed(std::unique_lock<std::mutex>& lock);
  [[nodiscard]] bool is_empty();
  [[nodiscard]] bool pop(Waiting& next);

  const nb::object start_thread_;
  const std::size_t threads_max_;
  std::mutex mutex_;
  std::condition_variable added_;
  std::deque<Waiting> waiting_;
  std::unordered_set<const void*> taken_;
  std::size_t threads_ = 0;
  std::size_t sleeping_ = 0;
  Entering entering_ = Entering::None;
  std::size_t taken_count_ = 0;
  /// Whether another thread of Python computes, so that the last thread that was called has waited for the lock.
  bool is_contended_ = false;
  bool is_closed_ = false;
};

}  // namespace tenon::python
