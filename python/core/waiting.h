#pragma once

#include <nanobind/nanobind.h>
#include <tenon/tenon.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

#include "core/errors.h"
#include "core/gil.h"

// Waits in functions of tenon/tenon.h: without the interpreter's lock, and so that Ctrl-C is heard.

namespace tenon::python {

/// How long a wait may take, in seconds; None for ever.
using Timeout = std::optional<double>;

/// How long the main thread waits before it looks for signals, in milliseconds.
constexpr std::uint64_t signal_period = 50;

/// The thread that hears signals: the main thread's `ident`.
void set_main_thread(unsigned long ident);
[[nodiscard]] bool hears_signals();

[[nodiscard]] std::uint64_t milliseconds_of(Timeout timeout);

/// Waits with `wait(milliseconds, &error)`, in pieces where signals are heard. Returns false after the timeout.
template <class Wait>
bool wait_in_pieces(Timeout timeout, Wait wait) {
  using Clock = std::chrono::steady_clock;
  const std::uint64_t whole = milliseconds_of(timeout);
  const Clock::time_point start = Clock::now();
  for (;;) {
    std::uint64_t left = whole;
    if (whole != TENON_FOREVER) {
      const auto passed = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start).count();
      left = whole - std::min(whole, static_cast<std::uint64_t>(passed));
    }
    const bool is_last = !hears_signals() || left <= signal_period;
    tenon_error* error = nullptr;
    const tenon_status status = without_lock([&] { return wait(is_last ? left : signal_period, &error); });
    if (check(status, error)) return true;
    if (hears_signals() && PyErr_CheckSignals() != 0) throw nanobind::python_error();
    if (is_last) return false;
  }
}

/// Calls a function of tenon/tenon.h without the lock, and raises its error. Returns false after TENON_TIMED_OUT.
bool done(const std::function<tenon_status(tenon_error**)>& function);

}  // namespace tenon::python
