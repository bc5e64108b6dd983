#pragma once

#include <algorithm>
#include <cstdint>

namespace tenon {

/// Waits between attempts: the first one, and each further one longer by a factor, up to a maximum. In milliseconds.
struct Backoff {
  double first = 0;
  double factor = 2;
  double most = 0;

  /// The wait after `earlier` waits.
  [[nodiscard]] double wait_after(std::uint32_t earlier) const {
    double wait = std::min(first, most);
    for (std::uint32_t made = 0; made < earlier && wait < most && factor > 1; ++made) {
      wait = std::min(wait * factor, most);
    }
    return wait;
  }
};

}  // namespace tenon
