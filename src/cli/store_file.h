#pragma once

#include <memory>

#include "cli/command_line.h"
#include "cli/environment.h"
#include "journal/sqlite_store.h"

namespace tenon::cli {

/// The store of `--store`, opened; null when it cannot be, which is printed.
[[nodiscard]] std::unique_ptr<journal::SqliteStore> open_store(const StoreChoice& choice, journal::Access access,
                                                               const Environment& environment);

}  // namespace tenon::cli
