#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tenon::runtime {

/// Generations and calls in progress, for people.
struct EffectsInProgress {
  std::size_t generations = 0;
  std::vector<std::string> externs;  ///< the name of the extern of each call

  [[nodiscard]] std::size_t count() const { return generations + externs.size(); }
};

/// A call in progress that is made at most once.
struct OnceCall {
  std::string name;  ///< of the extern
  /// How long it is still waited for, at most, if its branch was cancelled.
  std::optional<std::chrono::milliseconds> awaited;
};

/// How long effects in progress may take once the process is asked to stop; nothing: they simply continue.
using Grace = std::function<std::optional<std::chrono::milliseconds>()>;

}  // namespace tenon::runtime
