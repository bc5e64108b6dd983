#pragma once

#include <string>
#include <string_view>

#include "journal/postgres/server_address.h"
#include "journal/postgres/session.h"
#include "journal/store.h"

namespace tenon::journal::postgres {

/// What an error of the server means for a store, with a way out. `address`: of the store.
[[nodiscard]] StoreError make_error(const ServerAddress& address, const SessionError& error);

/// The SQLSTATEs with which the store's function `reject` ends a transaction whose condition does not hold: a note that
/// was to be kept first has an older one; a shared body is not in the store.
inline constexpr std::string_view note_exists_state = "TN001";
inline constexpr std::string_view body_missing_state = "TN002";

/// Whether the same call succeeds when it is made again: it met another one.
[[nodiscard]] bool is_transient(const SessionError& error);

}  // namespace tenon::journal::postgres
