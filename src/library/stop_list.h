#pragma once

#include <tenon/tenon.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "library/run_slot.h"
#include "runtime/listeners.h"

namespace tenon::library {

/// The state of a run as tenon/tenon.h names it.
[[nodiscard]] tenon_run_state state_of(engine::RunResult::How how);
[[nodiscard]] tenon_run_state state_of(const engine::Engine& engine, runtime::RunId run);

/// Collects the runs that have stopped: that have ended, or wait for a person or a prompt. Used by the thread that
/// has the engine; only `take`, `forget` and `is_empty` may be called by others.
class StopList final : public runtime::Listener {
 public:
  void watch(std::shared_ptr<RunSlot> slot);
  /// A run that has not started.
  void add_unstarted(RunSlot& slot, engine::EngineError error);
  /// The handle of the run is gone.
  void forget(RunSlot& slot);
  /// After a step. A run without events that has ended leaves the engine, and its end is kept in its slot.
  void look(engine::Engine& engine);
  /// The same, and takes the stop of one run: its state, or TENON_RUN_RUNNING if there is none.
  [[nodiscard]] tenon_run_state look_for(engine::Engine& engine, RunSlot& slot);

  /// Moves the oldest stops to `to`; returns how many.
  [[nodiscard]] std::size_t take(std::span<tenon_stop> to);
  [[nodiscard]] bool is_empty() const;

  [[nodiscard]] runtime::ReadRecords reads_records() const override { return runtime::ReadRecords::None; }
  void on_run_released(runtime::RunId run) override;
  void on_stepped(runtime::RunId run) override;

 private:
  void add(RunSlot& slot, tenon_run_state state);

  std::unordered_map<std::uint32_t, std::shared_ptr<RunSlot>> watched_;  ///< by RunId::index
  std::vector<runtime::RunId> stepped_;                                  ///< since the last look
  mutable std::mutex mutex_;                                             ///< of the rest, and of RunSlot::stop
  std::uint64_t next_ = 1;
  std::map<std::uint64_t, std::pair<RunSlot*, tenon_run_state>> stops_;  ///< in their order; the newest of each run
};

}  // namespace tenon::library
