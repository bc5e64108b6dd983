#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "journal/store.h"

namespace tenon::journal {

struct RunFilter {
  std::optional<RunState> state;
  std::string after;  ///< only names that sort after this one
  std::size_t limit = SIZE_MAX;
};

/// Finds runs by their summaries. Used by one thread at a time.
class RunQueries {
 public:
  virtual ~RunQueries() = default;

  /// Returns matching runs, ordered by name.
  [[nodiscard]] virtual Result<std::vector<RunHead>, StoreError> list(const RunFilter& filter) = 0;
  /// Returns runs whose `wake_at` is at most `now`, soonest first.
  [[nodiscard]] virtual Result<std::vector<RunHead>, StoreError> due(std::int64_t now, std::size_t limit) = 0;
  /// Returns the smallest `wake_at`.
  [[nodiscard]] virtual Result<std::optional<std::int64_t>, StoreError> next_due() = 0;
};

}  // namespace tenon::journal
