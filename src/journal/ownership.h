#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "journal/store.h"

/// Who continues the runs of a store (docs/decisions/0044-several-owners.md). A store in a file has one owner, a store
/// in a database may have several, and each run at most one of them.
namespace tenon::journal {

/// The number of an owner in its store, never reused. 0: none.
struct OwnerId {
  std::uint64_t number = 0;
  friend auto operator<=>(const OwnerId&, const OwnerId&) = default;
};

/// What an owner does for the store.
enum class OwnerRole : std::uint8_t {
  Visitor,  ///< continues the runs that it claims by name
  Host,     ///< also takes runs that have lost their owner or are given to it, and commands for runs that have none
  Gateway,  ///< continues no runs: it sends commands, and watches runs
};

/// An owner that has joined, and neither left nor died.
struct Owner {
  OwnerId id;
  OwnerRole role = OwnerRole::Visitor;
  std::string label = {};      ///< for people: the host's name and the process id
  std::string pool = {};       ///< of a Host: it takes the runs of this pool
  std::uint64_t runs = 0;      ///< that it has, as it reported last
  std::int64_t lease_ms = 0;   ///< left of its lease, in milliseconds
  std::int64_t joined_at = 0;  ///< milliseconds since 1970, by the store's clock
};

/// Whether an owner may act on the world.
enum class LeaseState : std::uint8_t {
  Held,       ///< effects may begin
  Suspended,  ///< effects wait: the lease has ended or its connection is cut, and it may be renewed
  Lost,       ///< others continue the runs: all of them are to be dropped
};

/// The part that a connection with `Access::Owner` has in its store. Used by one thread at a time, except where it says
/// `Any thread`.
class Ownership {
 public:
  virtual ~Ownership() = default;

  /// Any thread.
  [[nodiscard]] virtual OwnerId self() const = 0;
  /// Any thread, and quick: asked before each effect.
  [[nodiscard]] virtual LeaseState lease() = 0;
  /// How many runs this owner has, for the placement of others. Any thread.
  virtual void report_load(std::uint64_t runs) = 0;

  /// Whether no other owner can join.
  [[nodiscard]] virtual bool is_sole() const = 0;
  /// Grows when runs are abandoned that this owner may claim: another owner was seen to leave or die, or a run has
  /// moved to this owner's pool. Any thread.
  [[nodiscard]] virtual std::uint64_t abandonments() const = 0;
  /// Grows when others give runs to this owner (Append::moves_to), which `claim_abandoned` returns. Any thread.
  [[nodiscard]] virtual std::uint64_t given() const = 0;

  /// Claims runs that have work to do (`RunState::Running`) and no owner that lives, as `Store::claim` does. Also
  /// returns those that others have given to this owner: they are its own without a claim. Each is returned once while
  /// this owner has it, and may be returned again when much is known of other runs. `except`: are not claimed.
  [[nodiscard]] virtual Result<std::vector<RunHead>, StoreError> claim_abandoned(std::size_t limit,
                                                                                 std::span<const RunName> except) = 0;
  [[nodiscard]] Result<std::vector<RunHead>, StoreError> claim_abandoned(std::size_t limit) {
    return claim_abandoned(limit, {});
  }
  /// Gives up runs of this owner, which have nothing in progress. Others are left as they are. May be lost in a crash.
  [[nodiscard]] virtual Result<void, StoreError> release(std::span<const RunName> runs) = 0;
  /// The same for runs that this owner cannot continue: the other hosts of their pools are notified soon.
  [[nodiscard]] virtual Result<void, StoreError> give_back(std::span<const RunName> runs) = 0;
  /// After `Lost`: a new owner, which has no runs.
  [[nodiscard]] virtual Result<void, StoreError> rejoin() = 0;
  /// The pools that have runs or commands with work to do, and no host that lives.
  [[nodiscard]] virtual Result<std::vector<std::string>, StoreError> pools_without_hosts() = 0;
  /// The owners that live.
  [[nodiscard]] virtual Result<std::vector<Owner>, StoreError> owners() = 0;
};

}  // namespace tenon::journal
