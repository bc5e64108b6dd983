#pragma once

#include <chrono>
#include <optional>
#include <thread>

namespace tenon::engine {

/// Which thread makes a call outside of its engine: see SharedEngine, whose mutex protects it. One at a time.
class OutsideCalls final {
 public:
  using Clock = std::chrono::steady_clock;
  /// So long a call takes at most before another one of the engine's own threads continues the runs.
  static constexpr std::chrono::milliseconds takeover_after{1};

  /// On this thread. `is_own`: it is one of the engine's.
  void begin(bool is_own) {
    caller_ = std::this_thread::get_id();
    takeover_ = Clock::now() + takeover_after;
    is_own_ = is_own;
  }
  void end() { *this = {}; }
  /// Whether this thread is in the call.
  [[nodiscard]] bool is_here() const { return caller_ == std::this_thread::get_id(); }
  /// Whether one of the engine's own threads is in the call.
  [[nodiscard]] bool is_own() const { return is_own_; }
  /// When another one of them continues the runs; nothing: there is no call, or it has taken that long.
  [[nodiscard]] std::optional<Clock::time_point> takeover() const {
    return takeover_ && Clock::now() < *takeover_ ? takeover_ : std::nullopt;
  }

 private:
  std::thread::id caller_;
  std::optional<Clock::time_point> takeover_;
  bool is_own_ = false;
};

}  // namespace tenon::engine
