#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "journal/ownership.h"
#include "journal/store.h"

namespace tenon::journal {

struct RunFilter {
  std::optional<RunState> state = {};
  std::string after = {};  ///< only names that sort after this one
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
  OwnerId owner = {};  ///< only runs that this owner has or may claim
};

/// How much there is in a store, for those who watch it.
struct StoreCounts {
  std::map<RunState, std::uint64_t> runs = {};  ///< by state; those of which there are some
  std::uint64_t commands = 0;                   ///< in the inbox, which no owner has taken
};

/// Finds runs by their summaries. Used by one thread at a time.
class RunQueries {
 public:
  virtual ~RunQueries() = default;

  /// Returns matching runs, ordered by name.
  [[nodiscard]] virtual Result<std::vector<RunHead>, StoreError> list(const RunFilter& filter) = 0;
  /// Returns runs whose time has come, soonest first.
  [[nodiscard]] virtual Result<std::vector<DueRun>, StoreError> due(const DueFilter& filter) = 0;
  /// Returns the smallest `wake_at` of the runs that come after this one, and that this owner has or may claim.
  [[nodiscard]] virtual Result<std::optional<std::int64_t>, StoreError> next_due(const std::optional<DueRun>& after,
                                                                                 OwnerId owner) = 0;
  /// Returns the name that sorts last, of all runs, forgotten ones too; none in an empty store.
  [[nodiscard]] virtual Result<std::optional<RunName>, StoreError> newest() = 0;
  /// Counts all runs, which takes a while in a large store.
  [[nodiscard]] virtual Result<StoreCounts, StoreError> count() = 0;
};

}  // namespace tenon::journal
