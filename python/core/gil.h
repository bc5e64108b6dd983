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

/// Frees a handle: `Waiting` without the lock, because that may wait for the engine. In a callback of the engine, which
/// cannot use the engine, it is freed later, with the next handle that is freed elsewhere.
enum class Freeing : bool { AtOnce, Waiting };
void free_outside(Freeing freeing, std::function<void()> free);

/// Called by the thread that ends the interpreter: from now on, only this thread gets the lock in a callback or after a
/// wait. Returns when no other thread is about to get it.
void begin_end();

}  // namespace tenon::python
