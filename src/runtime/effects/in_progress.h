#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tenon::runtime {

/// Generations and calls in progress, for people.
struct EffectsInProgress {
  std::size_t generations = 0;
  std::vector<std::string> externs;  ///< the name of the extern of each call

  [[nodiscard]] std::size_t count() const { return generations + externs.size(); }
};

}  // namespace tenon::runtime
