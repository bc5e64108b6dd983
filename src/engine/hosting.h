#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "engine/engine_error.h"
#include "engine/fork.h"
#include "engine/program.h"
#include "engine/settings.h"
#include "engine/store_access.h"
#include "engine/system.h"
#include "engine/telemetry_setup.h"
#include "inference/model.h"
#include "journal/async_store.h"
#include "runtime/host/host.h"
#include "tools/extern_caller.h"
#include "tools/provided_functions.h"

namespace tenon::engine {

/// The programs whose runs a host continues. They share one model and one judge.
class HostedPrograms {
 public:
  /// Of a gateway, their externs are not bound.
  explicit HostedPrograms(journal::OwnerRole role = journal::OwnerRole::Host) : role_(role) {}

  struct Entry {
    std::string file;
    std::shared_ptr<const runtime::ProgramImage> image;
    runtime::RunOptions options;
  };

  /// Loads the program of a file. Returns its warnings. `Conflict` if its manifest chooses another model, judge or
  /// placement of an agent than that of an earlier program; the error names the setting that decides.
  [[nodiscard]] Result<Problems, EngineError> add(const std::string& file, const Settings& settings,
                                                  const System& system);
  /// The same for a file whose program has errors: a program without functions, for which a good one may come later.
  [[nodiscard]] Result<Problems, EngineError> add_empty(const std::string& file, const Settings& settings,
                                                        const System& system);
  /// The pool of the runs that are started.
  void set_pool(const std::string& pool);

  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
  [[nodiscard]] const ModelChoice& model() const { return model_; }
  /// Of the agents that the programs declare.
  [[nodiscard]] const project::AgentPlacements& placements() const { return placements_; }
  /// For calls of externs; nothing: the default.
  [[nodiscard]] std::optional<std::uint32_t> threads() const { return threads_; }

  /// The programs that runs of the store were started with: the added ones, or else the store's copies, bound to the
  /// libraries of all added programs. Copies `system`. Not longer than this object.
  [[nodiscard]] runtime::ImageSource images(const System& system);
  /// Why the externs of another program cannot be bound to these libraries; nothing if they can.
  [[nodiscard]] std::optional<EngineError> find_extern_problem(const vm::LoadedProgram& program,
                                                               const System& system) const;
  /// The added program of a start that another process asks for, with its options. Not longer than this object.
  [[nodiscard]] runtime::StartResolver resolver() const;
  /// The first added program that declares an agent. Not longer than this object.
  [[nodiscard]] runtime::NewestProgram newest() const;

 private:
  [[nodiscard]] Result<Problems, EngineError> add(const std::string& file, Program program);

  journal::OwnerRole role_;
  std::vector<Entry> entries_;
  std::unordered_map<Hash, std::shared_ptr<const runtime::ProgramImage>> images_;
  std::vector<std::string> libraries_;  ///< of all programs, absolute paths
  std::vector<std::string> provided_;   ///< names of externs that the embedding program performs
  std::optional<std::uint32_t> threads_;
  ModelChoice model_;
  project::AgentPlacements placements_;
};

/// Whether a conversation is upgraded to the added program that declares its agent, at its next turn.
enum class ConversationUpgrades : bool { Off, On };

struct HostingOptions {
  StoreChoice store_choice;                           ///< names a store
  std::unique_ptr<inference::Model> model = nullptr;  ///< null: the one that the programs name is opened
  tools::ProvidedFunctionMap functions = {};          ///< externs that the caller performs, by name
  tools::ProvidedHooks function_hooks = {};
  std::optional<std::uint32_t> extern_threads = std::nullopt;  ///< nothing: as the programs say
  ConversationUpgrades upgrades = ConversationUpgrades::Off;
  std::string pool = {};  ///< of the hosts that share the runs which are started here (journal::Append::pool)
  /// A placed agent: this is one of its hosts, which continue runs while that agent is active (decision 45). Empty: a
  /// host of `pool`.
  std::string agent = {};
  runtime::HostOptions host = {};
  /// Is called when another process uses the store: waits a moment and returns true, and the store is tried again.
  /// `why`: which process. May be empty.
  std::function<bool(std::string_view why)> on_store_in_use = {};
};

/// For how long a call of Hosting::reader may wait for a database's server: its thread also sends what needs no store.
inline constexpr std::chrono::milliseconds reader_patience{1'000};

/// A host with everything that it uses. Like `Engine` it prints nothing.
class Hosting final {
 public:
  /// Opens the model, the store and the exporter of spans. The host is not begun. Copies `system`, whose files and
  /// clock outlive the hosting, as `observer` does.
  [[nodiscard]] static Result<std::unique_ptr<Hosting>, EngineError> open(HostedPrograms programs,
                                                                          HostingOptions options,
                                                                          runtime::HostObserver& observer,
                                                                          const System& system);
  Hosting(const Hosting&) = delete;
  Hosting& operator=(const Hosting&) = delete;

  [[nodiscard]] runtime::Host& host() { return host_; }
  /// Forks a run of the store, and continues the fork. Any thread.
  void fork(ForkChoice choice, runtime::RequestKey key, runtime::OnReply reply);
  [[nodiscard]] const HostedPrograms& programs() const { return programs_; }
  /// The store, opened for reading, for one thread of the caller.
  [[nodiscard]] journal::StoreConnection& reader() { return *reader_; }
  /// Opens the store once more for reading, for another thread. Any thread.
  [[nodiscard]] Result<std::unique_ptr<journal::StoreConnection>, EngineError> open_reader() const {
    return open_store(readers_choice_, StoreUse::Read, system_);
  }
  [[nodiscard]] const System& system() const { return system_; }
  /// Any thread, for what its functions say so of.
  [[nodiscard]] journal::Ownership& ownership() { return store_.owner().ownership(); }
  /// Of the store, for runs that other processes own. Any thread.
  [[nodiscard]] journal::Wakeups& wakeups() { return store_.wakeups(); }
  /// The path or URL of the store.
  [[nodiscard]] const std::string& store_file() const { return store_file_; }
  /// The folder that std::report writes to.
  [[nodiscard]] const std::string& reports() const { return reports_; }
  /// Null: no spans are exported.
  [[nodiscard]] const telemetry::ExportCounts* exported_spans() const { return telemetry_.counts(); }

 private:
  /// What can fail to open.
  struct Parts {
    HostedPrograms programs;
    std::unique_ptr<journal::StoreConnection> owner, reader, hosts_reader;  ///< one for each thread
    Telemetry telemetry;
  };
  Hosting(Parts parts, HostingOptions options, runtime::HostObserver& observer, const System& system);

  // In this order: later members use earlier ones.
  HostedPrograms programs_;
  std::unique_ptr<inference::Model> model_;
  journal::ThreadedStore store_;
  std::unique_ptr<journal::StoreConnection> reader_;
  StoreChoice readers_choice_;
  std::string store_file_;
  std::string pool_;
  System system_;
  std::string reports_;
  std::unique_ptr<tools::ExternCaller> caller_;
  Telemetry telemetry_;
  effects::SecretVault secrets_;
  runtime::Host host_;
};

}  // namespace tenon::engine
