#pragma once

#include <functional>

namespace tenon::python {

/// Ends a wait of the main thread when a signal has come, so that Python's handlers can be executed: the main thread
/// does that between its own instructions. Signals come through the descriptor of `signal.set_wakeup_fd`; the one that
/// was there before gets them, too. A thread reads it, which is started with the first watch, and again after a fork.
///
/// For the main thread with the interpreter's lock. A watch may be within another one, when the function that is waited
/// for calls one of Python.
class SignalWatch {
 public:
  /// `interrupt`: ends the wait if it has begun. Is called by another thread, without the interpreter's lock, when a
  /// signal comes, and again until `acknowledge`.
  explicit SignalWatch(std::function<void()> interrupt);
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  /// The wait does not go on; PyErr_CheckSignals comes next.
  void acknowledge();

 private:
  class Reader;
  static Reader* reader;
  Reader& reader_;
  const std::function<void()> interrupt_;
  SignalWatch* outer_ = nullptr;
  int former_descriptor_ = -1;  ///< of the outermost one
};

}  // namespace tenon::python
