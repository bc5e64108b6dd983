#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>

#include "journal/ownership.h"

namespace tenon::journal::postgres {

/// Whether this process may act on the world: only while its own clock says that the lease holds, and the connection
/// that keeps it is open. So a process that was stopped sees, when it continues, that others may have taken its runs,
/// before it begins anything. Any thread; under a microsecond.
class Lease {
 public:
  /// Of a clock that also counts while the machine is suspended.
  [[nodiscard]] static std::chrono::nanoseconds now();

  /// The lease was renewed over the connection `descriptor`: it holds until then.
  void hold(int descriptor, std::chrono::nanoseconds until);
  /// The connection is about to be closed.
  void suspend();
  /// Others have marked this owner as dead. `hold` begins a new lease.
  void lose();
  [[nodiscard]] LeaseState state() const;

 private:
  std::atomic<std::int64_t> until_ns_{0};
  std::atomic<bool> is_lost_{false};
  mutable std::mutex mutex_;
  int descriptor_ = -1;  ///< -1: no connection
};

}  // namespace tenon::journal::postgres
