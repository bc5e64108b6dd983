#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "runtime/effects/effects.h"
#include "runtime/effects/requests.h"
#include "runtime/recording/commit_gate.h"
#include "runtime/runtime_options.h"
#include "runtime/scheduling/cancellation.h"
#include "runtime/scheduling/memory_limit.h"
#include "runtime/scheduling/parked_runs.h"

namespace tenon::runtime {

/// Lets runs continue in turns, each until all its branches wait; commits their new records together, and then acts on
/// them. See "From an outcome to the next request" in ARCHITECTURE.md.
class Scheduler {
 public:
  /// All outlive this.
  Scheduler(RunTable& runs, Recorder& recorder, Requests& requests, Effects& effects, Questions& questions,
            Cancellation& cancellation, ParkedRuns& parked, CommitGate& gate, const RuntimeDependencies& dependencies,
            const RuntimeOptions& options);

  // As those of Runtime.
  void run(const std::atomic<bool>* stop, const Grace& grace);
  void drain(std::chrono::milliseconds grace);
  bool poll(std::chrono::milliseconds wait, const std::atomic<bool>* stop = nullptr);
  bool poll_briefly(std::uint64_t instructions);
  void stop();
  [[nodiscard]] bool is_idle(RunId run) const;
  /// Everything that waits becomes durable.
  void flush();

  /// Other owners of the store continue the recorded runs: they are detached.
  void detach_recorded();
  /// New requests of the run. Once this drains, only those with an outcome that is known at once are made.
  void open_requests(RunId run, const std::vector<std::string>& keys);
  /// Calls of cancelled branches are waited for, see Effects::await_outcome.
  void await_calls(RunId run);

 private:
  void give_slices(std::uint64_t instructions, const std::atomic<bool>* stop);
  void step(RunId run, std::uint64_t instructions);
  bool advance(RunId run, std::uint64_t instructions);
  void deliver(RunId run, PendingOutcome& next);
  void finish(RunId run, vm::Step end);
  void end_by_itself(RunId run, TurnOutcome outcome);
  [[nodiscard]] static std::optional<effects::CancelWanted> take_late_cancel(Run& run);
  void fail_memory(RunId run);
  void publish_step(RunId run);
  [[nodiscard]] bool may_move(const Run& run) const;
  void move(RunId run);
  void record_requests_of(RunId run, const std::string& pool);
  void detach(RunId run, RunDetached problem);
  [[nodiscard]] journal::LeaseState lease() const;
  void follow_lease();
  void dispatch_effects(RunId run, const std::vector<std::string>& to_perform);
  [[nodiscard]] bool is_alone() const;
  /// Whether what waits there is committed before another step.
  [[nodiscard]] bool is_gate_full() const;
  void commit();
  void on_committed(std::vector<CommittedBatch> passed);
  void notify_recorded(RunId run, const RecordList& list) const;
  [[nodiscard]] bool awaits_outcomes() const;
  [[nodiscard]] bool takes_requests() const { return dependencies_.requests != nullptr && phase_ == Phase::Running; }

  RunTable& runs_;
  Recorder& recorder_;
  Requests& requests_;
  Effects& effects_;
  Questions& questions_;
  Cancellation& cancellation_;
  ParkedRuns& parked_;
  CommitGate& gate_;
  const RuntimeDependencies& dependencies_;
  const RuntimeOptions& options_;
  enum class Phase : std::uint8_t {
    Running,
    Draining,  ///< of runs with a store nothing is started but what counts as started already
    Stopping,  ///< nothing is started
  } phase_ = Phase::Running;
  std::chrono::nanoseconds drain_end_{0};  ///< by the monotonic clock
  MemoryLimit memory_;
  /// Effects of recorded runs that wait for the lease, in the order in which their requests became durable.
  std::vector<std::pair<RunId, std::string>> held_;
};

}  // namespace tenon::runtime
