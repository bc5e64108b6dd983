#pragma once

#include <tenon/tenon.h>

#include <atomic>
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
#include "library/options.h"

namespace tenon::library {

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
  [[nodiscard]] bool is_stopped() const { return is_stopped_; }

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
  std::atomic<bool> is_stopped_ = false;
  std::unordered_map<std::uint32_t, std::uint64_t> numbers_;  ///< by RunId::index
  std::uint64_t next_number_ = 1;
};

}  // namespace tenon::library
