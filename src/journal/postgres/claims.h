#pragma once

#include <chrono>
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
  /// Which abandoned runs are claimed, as Ownership::claim_abandoned has them.
  struct Wanted {
    std::size_t limit = 0;
    std::span<const RunName> except;
  };
  /// As Ownership::claim_abandoned. `given`: runs that others said they have given to this owner. When there are some,
  /// no others are looked for, unless that is due.
  enum class Search : bool { WhenDue, Now };
  [[nodiscard]] Result<std::vector<RunHead>, StoreError> claim_abandoned(const Wanted& wanted,
                                                                         std::vector<RunName> given, Search search);
  /// As Ownership::release.
  [[nodiscard]] Result<void, StoreError> release(std::span<const RunName> runs);
  /// The owner has no runs any more.
  void forget_known() {
    known_.forget_all();
    given_.clear();
  }

 private:
  /// Adds to `heads` runs that have no living owner.
  [[nodiscard]] Result<void, StoreError> search(const Wanted& wanted, std::vector<RunHead>& heads);
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
  /// Those of the runs `given_` that this owner has, and that are new to it.
  [[nodiscard]] Result<std::vector<RunRow>, StoreError> take_given();
  /// Adds to `given_` what this owner has, and what it does not know of.
  [[nodiscard]] Result<void, StoreError> look_for_given();
  /// Repairs the rows of claimed runs that are damaged.
  [[nodiscard]] Result<void, StoreError> repair(std::vector<RunRow>& claimed);
  /// Marks those of the owners whose leases have ended, and ends their sessions. True if there were some.
  [[nodiscard]] Result<bool, StoreError> end_expired(const std::set<std::int64_t>& owners);

  Connection& connection_;
  KnownRuns& known_;
  std::unordered_map<std::string, std::uint64_t> doubtful_;  ///< such runs, with the epochs that they would have
  std::vector<RunName> given_;                               ///< and not looked at yet
  std::chrono::steady_clock::time_point searched_at_;        ///< when abandoned runs were looked for
};

}  // namespace tenon::journal::postgres
