#pragma once

#include <cstdint>

#include "runtime/scheduling/parked_runs.h"
#include "runtime/scheduling/run_table.h"

namespace tenon::runtime {

/// Limits the memory of the values of all runs of a runtime. To count it takes time, so it is counted only when the
/// heap of the process has grown by half of what was left at the last count. What the rest of the process keeps, such
/// as an extern or the host, leads to a count, and does not count.
class MemoryLimit {
 public:
  explicit MemoryLimit(std::uint64_t bytes_max);

  /// Whether the values of the runs take more than the limit, as far as the heap tells. Parked ones are forgotten
  /// first.
  [[nodiscard]] bool is_exceeded(RunTable& runs, ParkedRuns& parked);

 private:
  const std::uint64_t bytes_max_;
  std::uint64_t heap_lowest_;  ///< of the process since the last count
  std::uint64_t left_;         ///< of the limit at the last count
};

}  // namespace tenon::runtime
