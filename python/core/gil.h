#pragma once

#include <nanobind/nanobind.h>
#include <tenon/tenon.h>

#include <functional>

// Who holds the interpreter's lock (the GIL). Tenon is entered without it, because another thread of the engine may
// need it to call a Python function.

namespace tenon::python {

namespace nb = nanobind;

/// Releases the lock while it exists. When the interpreter ends, a thread that wants the lock back is ended by Python,
/// which C++ does not survive. So such a thread waits here instead, until the process ends.
class Unlocked {
 public:
  Unlocked();
  ~Unlocked();
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  PyThreadState* state_;
};

/// Whether this thread has released the lock (Unlocked): it is one of Python, and not the engine's own.
[[nodiscard]] bool is_callers_thread();

/// Calls a function of tenon/tenon.h with the lock released.
template <class Function>
auto without_lock(Function function) {
  const Unlocked unlocked;
  return function();
}

/// While it exists, a function of Python may be called on this thread, in a callback of the engine. Without effect
/// (`is_allowed`) when the interpreter ends: a thread that waits for its lock then never returns.
class Callback {
 public:
  Callback();
  ~Callback();
  Callback(const Callback&) = delete;
  Callback& operator=(const Callback&) = delete;
  [[nodiscard]] bool is_allowed() const { return is_allowed_; }

 private:
  PyGILState_STATE state_{};  // set while is_allowed_ is initialised, so it is declared before it
  bool is_allowed_;
};

// How a thread that completes a call passes the lock on to the one that waits for the call. Beside a thread that
// computes, each time that the lock is taken costs a switch interval of the interpreter; but that thread sleeps until
// the lock is released, and one that is awake at that moment takes it first.

/// A call is about to be completed: this thread, which has the lock, is likely to release it soon. Without effect on
/// threads that do so without `wait_released`, or whose last wait was not beside a thread that computes.
void expect_release();
/// It will not release the lock soon.
void note_release();
enum class Waited {
  Not,        ///< there was more to do
  Alone,
  Contended,  ///< it took so long to take the lock again that another thread of Python computes
};
/// Releases the lock, calls `wait()`, and takes the lock again. If a call was completed (expect_release), the lock is
/// kept until the thread that waits for the call comes for it, for 2 ms at most. Returns early, with the lock, if
/// `has_more()` says that this thread has more to do.
[[nodiscard]] Waited wait_released(const std::function<bool()>& has_more, const std::function<void()>& wait);

/// Frees a handle: `Waiting` without the lock, because that may wait for the engine. In a callback of the engine, which
/// cannot use the engine, it is freed later, with the next handle that is freed elsewhere.
enum class Freeing : bool { AtOnce, Waiting };
void free_outside(Freeing freeing, std::function<void()> free);

/// Called by the thread that ends the interpreter: from now on, only this thread gets the lock in a callback or after a
/// wait, and threads that wait with `wait_released`, whose event loops have coroutines to cancel. Returns when no other
/// thread is about to get it.
void begin_end();
/// Whether another thread is about to end the interpreter, which starts no thread then. With the lock.
[[nodiscard]] bool is_before_end();
/// Waits for `begin_end`, for a while. Returns whether it was called. Without the lock.
[[nodiscard]] bool await_end();
/// Called by that thread when it no longer waits for these loops: they do not get the lock either.
void end_loops();

}  // namespace tenon::python
