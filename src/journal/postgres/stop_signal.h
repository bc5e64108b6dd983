#pragma once

#include <atomic>
#include <cstdint>

#include "base/waker.h"

namespace tenon::journal::postgres {

/// Ends the waits of a store's sessions for a server that does not reply, when the store is being closed. Any thread.
class StopSignal {
 public:
  void stop();
  [[nodiscard]] bool is_stopped() const { return stopped_at_ns_ != 0; }
  /// When `stop` was called, by the monotonic clock in nanoseconds; 0: it was not.
  [[nodiscard]] std::int64_t stopped_at_ns() const { return stopped_at_ns_; }
  /// Readable since `stop`.
  [[nodiscard]] int descriptor() const { return waker_.descriptor(); }

 private:
  Waker waker_;
  std::atomic<std::int64_t> stopped_at_ns_{0};
};

}  // namespace tenon::journal::postgres
