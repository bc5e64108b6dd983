#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "journal/open_store.h"
#include "journal/ownership.h"
#include "journal/postgres/session.h"

/// Rows of `owners`: who has joined the store, and which of them are dead. All times are the server's. Every function
/// works with a session of any process. `store` is the store's number.
///
/// An owner is dead when it has marked itself, when its lease has ended, or when its lock is not held although the
/// server was not restarted since: the lock belongs to the owner's control session, which the kernel closes with the
/// process. An owner whose connection alone was cut notices that, and has a moment (`missing_grace`) to connect again.
namespace tenon::journal::postgres {

inline constexpr std::chrono::milliseconds missing_grace{200};

/// What an owner's row says when it joins.
struct NewOwner {
  OwnerRole role = OwnerRole::Visitor;
  std::string label;
  std::string pool;
  std::chrono::milliseconds lease{};
};

/// Joins durably: adds a row, and takes the owner's lock, which lasts as long as the session. Returns the owner's id.
[[nodiscard]] Result<std::int64_t, SessionError> join(Session& session, std::int64_t store, const NewOwner& owner);

enum class Renewal : std::uint8_t {
  Held,    ///< the lease begins anew
  Marked,  ///< others have marked the owner as dead
};
/// Renews the lease in the session that holds the lock.
[[nodiscard]] Result<Renewal, SessionError> renew(Session& session, std::int64_t owner, std::uint64_t runs);
/// Takes the lock again in a new session, and renews.
[[nodiscard]] Result<Renewal, SessionError> return_to(Session& session, std::int64_t store, std::int64_t owner,
                                                      std::uint64_t runs);

/// Leaves: the runs of the owner are free from now on.
[[nodiscard]] Result<void, SessionError> leave(Session& session, std::int64_t owner);

/// The owners that live: not those whose lease has ended, although no one may have marked them yet.
[[nodiscard]] Result<std::vector<Owner>, SessionError> list_owners(Session& session);

/// What one owner sees of another one that has not ended.
struct SeenOwner {
  std::int64_t id = 0;
  bool is_marked = false;        ///< as dead; its sessions may exist
  bool is_marked_long = false;   ///< and its sessions have not been ended since
  bool is_suspect = false;       ///< its lease is over, or its lock is not held
  std::int64_t missing_ms = -1;  ///< since when the lock has been seen not to be held; -1: it was not
};
/// All others than `self` that have not ended.
[[nodiscard]] Result<std::vector<SeenOwner>, SessionError> see_others(Session& session, std::int64_t store,
                                                                      std::int64_t self);
/// Notes of suspects since when their locks are missing, and marks those that are dead. Returns the ids of the latter.
[[nodiscard]] Result<std::vector<std::int64_t>, SessionError> mark_dead(Session& session, std::int64_t store,
                                                                        std::span<const std::int64_t> suspects);
/// Ends the sessions with this name, which is that of an owner that was marked. Returns how many there still are.
[[nodiscard]] Result<std::size_t, SessionError> end_sessions(Session& session, const std::string& application_name);
/// The sessions of a marked owner were ended.
[[nodiscard]] Result<void, SessionError> note_ended(Session& session, std::int64_t owner);
/// Removes rows of owners that have ended some time ago.
[[nodiscard]] Result<void, SessionError> remove_ended(Session& session);

/// What sessions of an owner are called, so that others find and end them.
[[nodiscard]] std::string application_name_of(std::int64_t store, std::int64_t owner);

}  // namespace tenon::journal::postgres
