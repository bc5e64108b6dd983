#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "journal/open_store.h"

namespace tenon::journal::sqlite {

/// Opens the store in one SQLite database: the file, its log (`-wal`, `-shm`) and the owner's lock (`.lock`) beside it.
/// The format is described in docs/internals/journal.md.
[[nodiscard]] Result<std::unique_ptr<StoreConnection>, StoreError> open_sqlite(const std::string& path,
                                                                               const StoreOptions& options);

}  // namespace tenon::journal::sqlite
