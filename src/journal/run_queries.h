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

/// A run that waits for a time.
struct DueRun {
  std::int64_t wake_at = 0;  ///< milliseconds since 1970
  RunName run;
};

struct DueFilter {
  std::int64_t now = 0;              ///< only runs whose `wake_at` is at most this
  std::optional<DueRun> after = {};  ///< only those that come after this one
  std::size_t limit = SIZE_MAX;
};

/// Finds runs by their summaries. Used by one thread at a time.
class RunQueries {
 public:
  virtual ~RunQueries() = default;

  /// Returns matching runs, ordered by name.
  [[nodiscard]] virtual Result<std::vector<RunHead>, StoreError> list(const RunFilter& filter) = 0;
  /// Returns runs whose time has come, soonest first.
  [[nodiscard]] virtual Result<std::vector<DueRun>, StoreError> due(const DueFilter& filter) = 0;
  /// Returns the smallest `wake_at` of the runs that come after this one.
  [[nodiscard]] virtual Result<std::optional<std::int64_t>, StoreError> next_due(
      const std::optional<DueRun>& after) = 0;
};

}  // namespace tenon::journal
