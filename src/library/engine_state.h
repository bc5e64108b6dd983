#pragma once

#include <tenon/tenon.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/file_system.h"
#include "engine/engine_error.h"
#include "engine/program.h"
#include "engine/shared_engine.h"
#include "engine/store_access.h"
#include "engine/system.h"
#include "tools/provided_functions.h"

namespace tenon::library {

/// What a host has set (`tenon_options`).
struct Options {
  engine::Settings settings;
  engine::StoreChoice store;
  std::optional<std::uint32_t> extern_threads;
  std::optional<std::uint64_t> memory_bytes_max;
  std::function<void(engine::NoticeKind kind, std::string_view text)> on_notice;
  tools::ProvidedFunctionMap functions;

  struct Model {
    std::string name;
    tenon_model functions = {};
    std::shared_ptr<void> user;
  };
  std::optional<Model> model;
};

/// Sets one of the options that `tenon_options_set` describes. Fails with `Usage`.
[[nodiscard]] Result<void, engine::EngineError> set_option(Options& options, std::string_view name,
                                                           std::string_view value);

/// An engine of a host with everything that outlives it. Shared by its programs and runs.
class EngineState final {
 public:
  explicit EngineState(Options options);
  ~EngineState();
  EngineState(const EngineState&) = delete;
  EngineState& operator=(const EngineState&) = delete;

  /// Loads a program. The first one opens the engine, with the settings that its manifest completes.
  [[nodiscard]] Result<engine::Program, engine::EngineError> load(const engine::ProgramSource& source);
  [[nodiscard]] Result<runtime::RunId, engine::EngineError> resume(const std::string& name, bool has_events);
  /// The engine, which is opened with the options if no program has opened it.
  [[nodiscard]] Result<engine::SharedEngine*, engine::EngineError> open();
  /// Null before the engine is opened.
  [[nodiscard]] engine::SharedEngine* engine_or_null();
  void stop(std::chrono::milliseconds grace);

  /// Whether this process is a fork of the one that made this.
  [[nodiscard]] bool is_of_parent() const;

  /// A number for a run that begins, and the number of a run of the engine. With the engine in use.
  [[nodiscard]] std::uint64_t add_run(runtime::RunId run);
  [[nodiscard]] std::uint64_t number_of(runtime::RunId run) const;

 private:
  [[nodiscard]] Result<engine::SharedEngine*, engine::EngineError> open_locked(engine::Settings settings,
                                                                               engine::Watched watched);

  Options options_;
  RealFileSystem files_;
  RealClock clock_;
  engine::System system_;
  const std::uint64_t process_;
  std::mutex mutex_;  ///< of the engine's opening
  std::unique_ptr<engine::SharedEngine> engine_;
  bool is_stopped_ = false;
  std::unordered_map<std::uint32_t, std::uint64_t> numbers_;  ///< by RunId::index
  std::uint64_t next_number_ = 1;
};

}  // namespace tenon::library
