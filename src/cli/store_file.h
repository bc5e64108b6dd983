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

/// Opens the store of `--store`. Returns null after printing why it cannot be opened.
[[nodiscard]] std::unique_ptr<journal::StoreConnection> open_store(const StoreChoice& choice, StoreUse use,
                                                                   const Environment& environment);

/// A store that this process owns. Null if another process owns it, or after printing why it cannot be opened.
struct OwnedStore {
  std::unique_ptr<journal::StoreConnection> store;
  bool is_in_use = false;
};
[[nodiscard]] OwnedStore open_owned_store(const StoreChoice& choice, const Environment& environment);

/// Whether the store says that the run waits for a model or a tool that cannot be reached.
[[nodiscard]] bool waits_for_service(const StoreChoice& choice, const journal::RunName& run,
                                     const Environment& environment);

/// Sends a command to the process that owns the store and prints its reply. Withdraws the command if no reply comes in
/// time. Returns the exit code.
[[nodiscard]] int send_to_owner(const StoreChoice& choice, const journal::RunName& run, runtime::InboxCommand command,
                                const Environment& environment);

}  // namespace tenon::cli
