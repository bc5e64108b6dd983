#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "journal/open_store.h"

namespace tenon::journal {

struct StoreCopy {
  std::uint64_t runs = 0;               ///< that were copied
  std::uint64_t runs_there = 0;         ///< that were there already: the copy continues where it was interrupted
  std::uint64_t notes = 0;              ///< in the other store now
  std::vector<std::string> problems{};  ///< each names a run that could not be copied, and why
};
/// A copy ends after this number of problems.
inline constexpr std::size_t copy_problems_max = 1'000;

/// Copies all runs, with the snapshots of those that can continue, and all notes into another store, which may have
/// others. Commands are not copied: their senders repeat them. Both connections are owners', and there are no other
/// owners: `InUse` names one. A run that is damaged, or another one in the other store, is a problem, and the others
/// are copied. At the end every run has the same records in both stores, or there is a problem that names it.
/// `now_ms`: milliseconds since 1970; notes that have expired then are left out. `progress` is called from time to time
/// with the number of runs that are done.
[[nodiscard]] Result<StoreCopy, StoreError> copy_store(StoreConnection& from, StoreConnection& to, std::int64_t now_ms,
                                                       const std::function<void(std::uint64_t)>& progress = {});

/// Adds a run and its snapshot to a store. `head`: of the run where it is copied from. `exported`: as
/// StoreAdmin::export_run returns it; not used for a forgotten run.
[[nodiscard]] Result<Imported, StoreError> add_copied_run(StoreConnection& to, const RunHead& head,
                                                          const std::string& exported,
                                                          const std::optional<Snapshot>& snapshot);

}  // namespace tenon::journal
