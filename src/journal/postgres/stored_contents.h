#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "base/sha256.h"
#include "journal/postgres/session.h"

namespace tenon::journal::postgres {

/// A row of `contents`.
struct StoredContent {
  std::int64_t run = 0;
  Hash hash;
  std::optional<std::vector<Hash>> refers;  ///< nothing if they cannot be read
  bool is_shared = false;                   ///< its bytes are in `shared_bodies`
  /// Valid during the visit. Of a shared one only if those of one run are read, and the body is there.
  std::optional<std::string_view> bytes;
};

/// Locks until the end of a transaction: while one that adds shared bodies is open, none that removes some continues,
/// and the other way round. $1: the store's number.
inline const Statement lock_to_add_bodies{
    "SELECT pg_advisory_xact_lock_shared(hashtextextended('tenon bodies ' || $1::bigint, 0))"};
inline const Statement lock_to_remove_bodies{
    "SELECT pg_advisory_xact_lock(hashtextextended('tenon bodies ' || $1::bigint, 0))"};

/// Reads the contents of a run, with the bytes of shared ones, or those of all runs, without them; in the order of runs
/// and hashes, in pieces. The visit ends the reading by returning false.
[[nodiscard]] Result<void, SessionError> visit_contents(Session& session, std::optional<std::int64_t> run,
                                                        const std::function<bool(const StoredContent&)>& visit);

/// Takes a list of hashes apart, as `encode_hashes` makes it.
[[nodiscard]] std::optional<std::vector<Hash>> decode_hashes(std::string_view bytes);

}  // namespace tenon::journal::postgres
