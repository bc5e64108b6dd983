#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "engine/engine_error.h"
#include "engine/system.h"
#include "journal/open_store.h"
#include "runtime/host/requests/inbox_command.h"
#include "runtime/recovery/recovery.h"

namespace tenon::engine {

/// The store of journals.
struct StoreChoice {
  std::string path;  ///< or a URL; empty: runs are not recorded
  std::string durability = "full";
  std::string reports = {};  ///< the folder for reports; empty: the default of reports_folder
  journal::OwnerRole role = journal::OwnerRole::Visitor;
  std::string pool = {};                                             ///< of a Host: the runs that it takes
  std::optional<std::chrono::milliseconds> patience = std::nullopt;  ///< as journal::StoreOptions::patience
};

/// A message about a store without the path of its file, for those who are not to learn where it is.
[[nodiscard]] std::string without_file(std::string message, std::string_view file);

/// What a store is opened for. Only `Change` creates a file that does not exist; only `Check` and `Repair` open a store
/// whose log is damaged.
enum class StoreUse : std::uint8_t { Read, Check, ChangeExisting, Change, Repair };

/// Opens a store, and passes on what was repaired in it as warnings. `InUse` if another process owns it.
[[nodiscard]] Result<std::unique_ptr<journal::StoreConnection>, EngineError> open_store(const StoreChoice& choice,
                                                                                        StoreUse use,
                                                                                        const System& system);

/// Whether effects may begin, as the lease of a store's owner says; empty if they always may. `store` may be null.
[[nodiscard]] std::function<bool()> begins_under_lease(journal::StoreConnection* store);

[[nodiscard]] EngineError to_error(const journal::StoreError& error);
[[nodiscard]] EngineError to_error(const runtime::RecoveryError& error);

/// Whether the store says that the run waits for a model or a tool that cannot be reached.
[[nodiscard]] Result<bool, EngineError> waits_for_service(const StoreChoice& choice, const journal::RunName& run,
                                                          const System& system);

/// What has become of a command.
struct SentCommand {
  enum class Fate : std::uint8_t {
    Taken,
    Lacking,  ///< each process that could have taken it lacks something
    NoTaker   ///< the process that it was left for has ended, and no other takes it: it was withdrawn
  } fate = Fate::Taken;
  std::string lack = {};  ///< what they lack, such as a library of the run
};

/// Sends a command to the process that owns the store or the run, or to a host of the run's pool, and waits for its
/// reply: 5 seconds, in a database longer by a lease. Then the command is withdrawn. `WrongInput` if the process
/// refuses it.
[[nodiscard]] Result<SentCommand, EngineError> send_to_owner(const StoreChoice& choice, const journal::RunName& run,
                                                             runtime::InboxCommand command, const System& system);

}  // namespace tenon::engine
