#pragma once

#include <cstdint>

#include "journal/open_store.h"
#include "journal/postgres/session.h"

namespace tenon::journal::postgres {

/// The format of the tables that this build writes; docs/internals/journal.md describes it.
inline constexpr std::int64_t store_format = 2;
/// The oldest server with everything that the statements use.
inline constexpr int server_version_min = 130'000;

/// What the tables say of themselves.
struct SchemaFacts {
  std::int64_t number = 0;  ///< random, of this store: names its locks and channels in the database
};

/// Looks at the tables of the store. An owner creates them, and upgrades those of an older format, each in one
/// transaction. `Missing` if there are none and this user may not create them (`StoreOptions::creates`). For a reader
/// `OldFormat` if they are to be upgraded.
[[nodiscard]] Result<SchemaFacts, StoreError> prepare_schema(Session& session, const ServerAddress& address,
                                                             const StoreOptions& options);

}  // namespace tenon::journal::postgres
