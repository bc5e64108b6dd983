#include "journal/postgres/stop_signal.h"

#include <chrono>

namespace tenon::journal::postgres {

void StopSignal::stop() {
  std::int64_t expected = 0;
  const std::chrono::nanoseconds now = std::chrono::steady_clock::now().time_since_epoch();
  stopped_at_ns_.compare_exchange_strong(expected, now.count());
  waker_.wake();
}

}  // namespace tenon::journal::postgres
