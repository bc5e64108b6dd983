#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>
#include <thread>

#include "base/waker.h"

namespace tenon {

/// An interface to time; tests have their own implementation.
class Clock {
 public:
  virtual ~Clock() = default;
  /// Since an arbitrary start; never decreases, and does not follow when the wall clock is set.
  [[nodiscard]] virtual std::chrono::nanoseconds monotonic() = 0;
  [[nodiscard]] virtual std::chrono::system_clock::time_point wall() = 0;
  /// Waits for this duration.
  virtual void wait(std::chrono::milliseconds time) = 0;
  /// The same, unless it is woken earlier.
  virtual void wait(std::chrono::milliseconds time, const Waker& waker) = 0;
};

class RealClock final : public Clock {
 public:
  [[nodiscard]] std::chrono::nanoseconds monotonic() override {
    // Unlike the steady clock, this one counts the time for which the machine is suspended.
    timespec time{};
    if (::clock_gettime(CLOCK_BOOTTIME, &time) != 0) return std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
  }
  [[nodiscard]] std::chrono::system_clock::time_point wall() override { return std::chrono::system_clock::now(); }
  void wait(std::chrono::milliseconds time) override { std::this_thread::sleep_for(time); }
  void wait(std::chrono::milliseconds time, const Waker& waker) override { waker.wait(time); }
};

/// The same moment by both clocks.
struct Moment {
  std::int64_t wall_ms = 0;  ///< milliseconds since 1970
  std::chrono::nanoseconds monotonic{0};
};

/// Milliseconds since 1970.
[[nodiscard]] inline std::int64_t wall_ms(Clock& clock) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(clock.wall().time_since_epoch()).count();
}

/// Milliseconds by the monotonic clock.
[[nodiscard]] inline std::int64_t monotonic_ms(Clock& clock) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(clock.monotonic()).count();
}

}  // namespace tenon
