#pragma once

#include <cstdint>

#include "bytecode/control_regions.h"

namespace tenon::bytecode {

/// Whether a region ends with the code in [begin, end), the body of a handler or of a `finally`: a failure that leaves
/// the body leaves the region, too. `region_end`: of the decision's region. Where the body's code ends, regions of
/// decisions in it end, and also regions around it, which are not left.
[[nodiscard]] inline bool is_left_with(const Function& function, Decision decision, std::uint32_t region_end,
                                       std::uint32_t begin, std::uint32_t end) {
  if (region_end != end) return region_end >= begin && region_end < end;
  if (decision == whole_function) return false;
  const auto size = static_cast<Decision>(function.code.size());
  if (decision < size) return decision >= begin && decision < end;
  const std::size_t handler = decision - size;
  if (handler >= function.handlers.size()) return false;
  return function.handlers[handler].begin >= begin && function.handlers[handler].end <= end;
}

}  // namespace tenon::bytecode
