#pragma once

#include <tenon/tenon.h>

#include <atomic>
#include <condition_variable>
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
#include "library/prompt_log.h"
#include "library/run_slot.h"
#include "library/stop_list.h"

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
  /// A program without its externs. Does not open the engine.
  [[nodiscard]] Result<engine::Program, engine::EngineError> compile(const engine::ProgramSource& source) const;
  /// The program of a run of the store.
  [[nodiscard]] Result<engine::Program, engine::EngineError> load_stored(const std::string& run);
  /// `use`: called with the engine and the run, as soon as it is resumed.
  [[nodiscard]] Result<void, engine::EngineError> resume(
      const std::string& name, std::uint32_t flags, const std::function<void(engine::Engine&, runtime::RunId)>& use);
  /// The engine, which is opened with the options if no program has opened it.
  [[nodiscard]] Result<engine::SharedEngine*, engine::EngineError> open();
  /// Null before the engine is opened. Waits for nothing.
  [[nodiscard]] engine::SharedEngine* engine_or_null() { return opened_; }
  /// SharedEngine::interrupt, if the engine is open. Any thread.
  void interrupt();
  /// False: another thread is stopping it. After an exception it can be called again.
  [[nodiscard]] bool stop(std::chrono::milliseconds grace);
  [[nodiscard]] bool is_stopped() const { return is_stopped_; }

  /// Whether this process is a fork of the one that made this.
  [[nodiscard]] bool is_of_parent() const;

  /// The number of a run that will begin, which no other one has. Any thread, as the next one.
  [[nodiscard]] std::uint64_t reserve_number() { return next_number_++; }
  /// Its slot. `number`: one that was reserved for it; 0: none was.
  [[nodiscard]] std::shared_ptr<RunSlot> make_slot(std::uint32_t flags,
                                                   std::shared_ptr<const vm::LoadedProgram> program,
                                                   std::uint64_t number = 0);
  /// A run has begun. With the engine in use, as the following ones.
  void begin(const std::shared_ptr<RunSlot>& slot, engine::Engine& engine, runtime::RunId run);
  /// The same of a run without a slot.
  void note_number(runtime::RunId run, std::uint64_t number) { numbers_[run.index] = number; }
  [[nodiscard]] std::uint64_t number_of(runtime::RunId run) const;
  [[nodiscard]] PromptLog& prompts() { return prompts_; }
  /// Thread-safe as its class says.
  [[nodiscard]] StopList& stops() { return stops_; }
  [[nodiscard]] const engine::System& system() const { return system_; }
  [[nodiscard]] const Options& options() const { return options_; }

 private:
  class Opening;

  /// Opens the engine, with the model of this run if none was chosen.
  [[nodiscard]] Result<engine::SharedEngine*, engine::EngineError> open_for(const std::string& run);
  /// `model`: in the place of one that the options do not provide; null: that of the settings.
  [[nodiscard]] Result<engine::SharedEngine*, engine::EngineError> open(
      const Opening& opening, engine::Settings settings, engine::Watched watched,
      std::unique_ptr<inference::Model> model = nullptr);

  Options options_;
  RealFileSystem files_;
  RealClock clock_;
  engine::System system_;
  const std::uint64_t process_;
  StopList stops_;
  PromptLog prompts_;
  runtime::Listeners listeners_;  ///< both
  std::mutex mutex_;              ///< of the engine's opening and its end, and not held while it is opened or stopped
  std::condition_variable opening_ended_;
  bool is_opening_ = false;  ///< by the thread that has the Opening
  bool is_ending_ = false;   ///< a thread is in `stop`
  std::unique_ptr<engine::SharedEngine> engine_;
  std::atomic<engine::SharedEngine*> opened_ = nullptr;  ///< the same, for any thread
  std::atomic<bool> is_stopped_ = false;
  std::unordered_map<std::uint32_t, std::uint64_t> numbers_;  ///< by RunId::index
  std::atomic<std::uint64_t> next_number_ = 1;
};

}  // namespace tenon::library
