#pragma once

#include <cstdint>
#include <memory>

#include "cli/command_line.h"
#include "cli/environment.h"
#include "journal/open_store.h"
#include "runtime/inbox_command.h"

namespace tenon::cli {

/// What a command does with its store. Only `Change` creates a file that does not exist; only `Repair` opens a store
/// whose log is damaged.
enum class StoreUse : std::uint8_t { Read, ChangeExisting, Change, Repair };

/// The store of `--store`, opened; null when it cannot be, which is printed.
[[nodiscard]] std::unique_ptr<journal::StoreConnection> open_store(const StoreChoice& choice, StoreUse use,
                                                                   const Environment& environment);

/// The owner's store. Null when it cannot be opened: another process owns it, or it was printed why.
struct OwnedStore {
  std::unique_ptr<journal::StoreConnection> store;
  bool is_in_use = false;
};
[[nodiscard]] OwnedStore open_owned_store(const StoreChoice& choice, const Environment& environment);

/// Whether the store says that the run waits for a model or a tool that cannot be reached.
[[nodiscard]] bool waits_for_service(const StoreChoice& choice, const journal::RunName& run,
                                     const Environment& environment);

/// Hands a command to the process that owns the store, and waits for its answer; takes it back when none comes. Gives
/// the exit code; what it says is printed.
[[nodiscard]] int hand_over(const StoreChoice& choice, const journal::RunName& run, runtime::InboxCommand command,
                            const Environment& environment);

}  // namespace tenon::cli
