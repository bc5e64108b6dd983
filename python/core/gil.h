#pragma once

#include <nanobind/nanobind.h>
#include <tenon/tenon.h>

#include <functional>

// Who holds the interpreter's lock (the GIL). Tenon is entered without it, because another thread of the engine may need
// it to call a Python function.

namespace tenon::python {

namespace nb = nanobind;

/// Calls a function of tenon/tenon.h with the lock released.
template <class Function>
auto without_lock(Function function) {
  const nb::gil_scoped_release released;
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
  bool is_allowed_;
  PyGILState_STATE state_{};
};

/// Frees a handle, which may wait for the engine. In a callback of the engine it is freed after the callback.
void free_outside(std::function<void()> free);

/// From now on, no callback calls Python.
void end_callbacks();

}  // namespace tenon::python
