#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "journal/postgres/connection.h"
#include "journal/postgres/known_runs.h"
#include "journal/store.h"

namespace tenon::journal::postgres {

/// Takes runs for the owner that a connection is, and gives them up. Used by one thread at a time.
class Claims {
 public:
  Claims(Connection& connection, KnownRuns& known) : connection_(connection), known_(known) {}

  /// As Store::claim.
  [[nodiscard]] Result<ClaimOutcomes, StoreError> claim(std::span<const RunName> runs, ClaimMode mode);
  /// As Ownership::claim_abandoned.
  [[nodiscard]] Result<std::vector<RunHead>, StoreError> claim_abandoned(std::size_t limit);
  /// As Ownership::release.
  [[nodiscard]] Result<void, StoreError> release(std::span<const RunName> runs);
  /// The owner has no runs any more.
  void forget_known() { known_.forget_all(); }

 private:
  /// Claims those that may be claimed, and returns them.
  [[nodiscard]] Result<std::vector<RunRow>, StoreError> take(std::span<const RunName> runs, ClaimMode mode);
  struct Found {
    std::unordered_map<std::string, Result<RunHead, StoreError>> outcomes;
    std::set<std::int64_t> owners;  ///< of runs that were not claimed
    std::vector<RunRow> damaged;    ///< runs that no one has, and whose rows say that they have ended
  };
  /// Claims runs, and finds out about those that cannot be claimed.
  [[nodiscard]] Result<Found, StoreError> claim_each(std::span<const RunName> runs, ClaimMode mode);
  /// The same again for those that were not claimed: what stood in the way is gone.
  [[nodiscard]] Result<void, StoreError> claim_again(std::span<const RunName> runs, ClaimMode mode, Found& found);
  /// Runs that the server may have given to this owner although `claim_abandoned` has failed.
  [[nodiscard]] Result<std::vector<RunRow>, StoreError> find_doubtful();
  /// Repairs the rows of claimed runs that are damaged.
  [[nodiscard]] Result<void, StoreError> repair(std::vector<RunRow>& claimed);
  /// Marks those of the owners whose leases have ended, and ends their sessions. True if there were some.
  [[nodiscard]] Result<bool, StoreError> end_expired(const std::set<std::int64_t>& owners);

  Connection& connection_;
  KnownRuns& known_;
  std::unordered_map<std::string, std::uint64_t> doubtful_;  ///< such runs, with the epochs that they would have
};

}  // namespace tenon::journal::postgres
