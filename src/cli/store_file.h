#pragma once

#include <cstdint>
#include <memory>

#include "cli/command_line.h"
#include "cli/environment.h"
#include "journal/sqlite_store.h"

namespace tenon::cli {

/// What a command does with its store. Only what begins a run makes a file that is not there.
enum class StoreUse : std::uint8_t { Read, ChangeExisting, Change };

/// The store of `--store`, opened; null when it cannot be, which is printed.
[[nodiscard]] std::unique_ptr<journal::SqliteStore> open_store(const StoreChoice& choice, StoreUse use,
                                                               const Environment& environment);

}  // namespace tenon::cli
