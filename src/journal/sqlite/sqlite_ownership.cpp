#include "journal/sqlite/sqlite_ownership.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "journal/sqlite/owner_lock.h"

namespace tenon::journal::sqlite {

OwnerId SqliteOwnership::self() const {
  return {connection_.access() == Access::Owner ? std::uint64_t{1} : std::uint64_t{0}};
}

Result<std::vector<RunHead>, StoreError> SqliteOwnership::claim_abandoned(std::size_t limit,
                                                                          std::span<const RunName> except) {
  auto runs = store_.take_unclaimed(limit);
  if (!runs) return failure(runs.error());
  std::erase_if(*runs, [&](const RunName& run) { return std::ranges::find(except, run) != except.end(); });
  auto claimed = store_.claim(*runs, ClaimMode::IfFree);
  if (!claimed) return failure(claimed.error());
  std::vector<RunHead> heads;
  for (auto& head : *claimed)
    if (head) heads.push_back(std::move(*head));
  return heads;
}

Result<std::vector<Owner>, StoreError> SqliteOwnership::owners() {
  std::vector<Owner> owners;
  if (connection_.access() == Access::Owner) {
    owners.push_back({.id = self(), .role = OwnerRole::Host, .label = fmt::format("process {}", getpid())});
  } else if (OwnerLock::is_held(connection_.path())) {
    owners.push_back({.id = {1}, .role = OwnerRole::Host, .label = "another process"});
  }
  return owners;
}

}  // namespace tenon::journal::sqlite
