#pragma once

#include <atomic>
#include <chrono>

#include "base/clock.h"

namespace tenon::test {

/// The real clocks, where the wall clock can be set while the monotonic clock continues. From any thread.
class ShiftedClock final : public Clock {
 public:
  /// From now on, the wall clock shows as much more than the real one.
  void shift_wall(std::chrono::milliseconds shift) { shift_ms_ = shift.count(); }

  [[nodiscard]] std::chrono::nanoseconds monotonic() override { return real_.monotonic(); }
  [[nodiscard]] std::chrono::system_clock::time_point wall() override {
    return real_.wall() + std::chrono::milliseconds(shift_ms_.load());
  }
  void wait(std::chrono::milliseconds time) override { real_.wait(time); }
  void wait(std::chrono::milliseconds time, const Waker& waker) override { real_.wait(time, waker); }

 private:
  RealClock real_;
  std::atomic<std::int64_t> shift_ms_ = 0;
};

}  // namespace tenon::test
