#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "journal/open_store.h"

namespace tenon::journal::postgres {

/// Opens the store in a PostgreSQL database; an owner creates its tables and joins its owners. The format of the URL is
/// described in journal/postgres/server_address.h, that of the tables in docs/internals/journal.md.
[[nodiscard]] Result<std::unique_ptr<StoreConnection>, StoreError> open_postgres(const std::string& url,
                                                                                 const StoreOptions& options);

}  // namespace tenon::journal::postgres
