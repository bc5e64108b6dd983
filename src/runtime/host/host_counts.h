#pragma once

#include <atomic>
#include <cstdint>

namespace tenon::runtime {

/// Counters of a host for monitoring; any thread.
struct HostCounts {
  std::atomic<std::uint64_t> runs_started{0}, runs_ended{0}, runs_loaded{0}, runs_released{0}, answers_taken{0},
      records{0}, commands_taken{0}, resident{0}, effects_under_way{0};
};

}  // namespace tenon::runtime
