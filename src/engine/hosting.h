#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "engine/engine_error.h"
#include "engine/program.h"
#include "engine/settings.h"
#include "engine/store_access.h"
#include "engine/system.h"
#include "engine/telemetry_setup.h"
#include "inference/model.h"
#include "journal/async_store.h"
#include "runtime/host/host.h"
#include "tools/native/native_caller.h"

namespace tenon::engine {

/// The programs whose runs a host continues. They share one model and one judge.
class HostedPrograms {
 public:
  struct Entry {
    std::string file;
    std::shared_ptr<const runtime::ProgramImage> image;
    runtime::RunOptions options;
  };

  /// Loads the program of a file. Returns its warnings. `Conflict` if its manifest chooses another model or judge than
  /// that of an earlier program; the error names the setting that decides.
  [[nodiscard]] Result<Problems, EngineError> add(const std::string& file, const Settings& settings,
                                                  const System& system);

  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
  [[nodiscard]] const ModelChoice& model() const { return model_; }
  /// For calls of externs; nothing: the default.
  [[nodiscard]] std::optional<std::uint32_t> threads() const { return threads_; }

  /// The programs that runs of the store were started with: the added ones, or else the store's copies, bound to the
  /// libraries of all added programs. Copies `system`. Not longer than this object.
  [[nodiscard]] runtime::ImageSource images(const System& system);
  /// The first added program that declares an agent. Not longer than this object.
  [[nodiscard]] runtime::NewestProgram newest() const;

 private:
  std::vector<Entry> entries_;
  std::unordered_map<Hash, std::shared_ptr<const runtime::ProgramImage>> images_;
  std::vector<std::string> libraries_;  ///< of all programs, absolute paths
  std::optional<std::uint32_t> threads_;
  ModelChoice model_;
};

/// Whether a conversation is upgraded to the added program that declares its agent, at its next turn.
enum class ConversationUpgrades : bool { Off, On };

struct HostingOptions {
  StoreChoice store_choice;  ///< names a store
  ConversationUpgrades upgrades = ConversationUpgrades::Off;
  runtime::HostOptions host = {};
};

/// A host with everything that it uses. Like `Engine` it prints nothing.
class Hosting final {
 public:
  /// Opens the model, the store and the exporter of spans. The host is not begun. Copies `system`, whose files and
  /// clock outlive the hosting, as `observer` does.
  [[nodiscard]] static Result<std::unique_ptr<Hosting>, EngineError> open(HostedPrograms programs,
                                                                          const HostingOptions& options,
                                                                          runtime::HostObserver& observer,
                                                                          const System& system);
  Hosting(const Hosting&) = delete;
  Hosting& operator=(const Hosting&) = delete;

  [[nodiscard]] runtime::Host& host() { return host_; }
  [[nodiscard]] const HostedPrograms& programs() const { return programs_; }
  /// The store, opened for reading, for one thread of the caller.
  [[nodiscard]] journal::StoreConnection& reader() { return *reader_; }
  /// The folder that std::report writes to.
  [[nodiscard]] const std::string& reports() const { return reports_; }
  /// Null: no spans are exported.
  [[nodiscard]] const telemetry::ExportCounts* exported_spans() const { return telemetry_.counts(); }

 private:
  /// What can fail to open.
  struct Parts {
    HostedPrograms programs;
    std::unique_ptr<inference::Model> model;
    std::unique_ptr<journal::StoreConnection> owner, reader, hosts_reader;  ///< one for each thread
    Telemetry telemetry;
  };
  Hosting(Parts parts, const HostingOptions& options, runtime::HostObserver& observer, const System& system);

  // In this order: later members use earlier ones.
  HostedPrograms programs_;
  std::unique_ptr<inference::Model> model_;
  std::unique_ptr<journal::StoreConnection> reader_;
  journal::ThreadedStore store_;
  std::string reports_;
  tools::NativeCaller caller_;
  Telemetry telemetry_;
  effects::SecretVault secrets_;
  runtime::Host host_;
};

}  // namespace tenon::engine
