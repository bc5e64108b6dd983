#pragma once

#include <nanobind/nanobind.h>
#include <tenon/tenon.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

#include "core/errors.h"
#include "core/gil.h"
#include "core/signal_watch.h"

// Waits in functions of tenon/tenon.h: without the interpreter's lock, and so that Ctrl-C is heard.

namespace tenon::python {

/// How long a wait may take, in seconds; None for ever.
using Timeout = std::optional<double>;

/// How long the main thread waits before it has signals end its wait, in milliseconds: most waits are shorter.
constexpr std::uint64_t unwatched_max = 50;
/// And at most after that, in case that a function that is called meanwhile takes the descriptor for signals.
constexpr std::uint64_t watched_max = 1'000;

/// The thread that hears signals: the main thread's `ident`.
void set_main_thread(unsigned long ident);
[[nodiscard]] bool hears_signals();

[[nodiscard]] std::uint64_t milliseconds_of(Timeout timeout);

/// Waits with `wait(milliseconds, &error)`, which `interrupt()` ends early from another thread, so that signals are
/// heard. Returns false after the timeout.
template <class Wait, class Interrupt>
bool wait_and_hear_signals(Timeout timeout, Wait wait, Interrupt interrupt) {
  using Clock = std::chrono::steady_clock;
  const bool may_hear = hears_signals();  // the other threads are interrupted, too, and wait again
  std::optional<SignalWatch> watch;
  const std::uint64_t whole = milliseconds_of(timeout);
  const Clock::time_point start = Clock::now();
  for (;;) {
    std::uint64_t left = whole;
    if (whole != TENON_FOREVER) {
      const auto passed = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start).count();
      left = whole - std::min(whole, static_cast<std::uint64_t>(passed));
    }
    const std::uint64_t piece_max = !may_hear ? TENON_FOREVER : watch ? watched_max : unwatched_max;
    tenon_error* error = nullptr;
    const tenon_status status = without_lock([&] { return wait(std::min(left, piece_max), &error); });
    if (check(status, error)) return true;
    if (watch) {
      watch->acknowledge();
    } else if (may_hear && left > piece_max) {
      watch.emplace(interrupt);
    }
    if (may_hear && PyErr_CheckSignals() != 0) throw nanobind::python_error();
    if (left == 0) return false;
  }
}

/// Calls a function of tenon/tenon.h without the lock, and raises its error. Returns false after TENON_NOT_YET.
template <class Function>
bool done(const Function& function) {
  tenon_error* error = nullptr;
  const tenon_status status = without_lock([&] { return function(&error); });
  return check(status, error);
}

}  // namespace tenon::python
