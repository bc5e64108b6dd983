#pragma once

#include <chrono>
#include <cstdint>
#include <thread>

namespace tenon {

/// An interface to time; tests have their own implementation.
class Clock {
 public:
  virtual ~Clock() = default;
  /// Since an arbitrary start; never decreases.
  [[nodiscard]] virtual std::chrono::nanoseconds monotonic() = 0;
  [[nodiscard]] virtual std::chrono::system_clock::time_point wall() = 0;
  /// Waits for this duration.
  virtual void wait(std::chrono::milliseconds time) = 0;
};

class RealClock final : public Clock {
 public:
  [[nodiscard]] std::chrono::nanoseconds monotonic() override {
    return std::chrono::steady_clock::now().time_since_epoch();
  }
  [[nodiscard]] std::chrono::system_clock::time_point wall() override { return std::chrono::system_clock::now(); }
  void wait(std::chrono::milliseconds time) override { std::this_thread::sleep_for(time); }
};

/// Milliseconds since 1970.
[[nodiscard]] inline std::int64_t wall_ms(Clock& clock) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(clock.wall().time_since_epoch()).count();
}

}  // namespace tenon
