#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/events.h"
#include "runtime/host/host_counts.h"
#include "runtime/host/host_observer.h"
#include "runtime/host/requests/pending_replies.h"
#include "runtime/host/resident_runs.h"
#include "runtime/host/run_schedule.h"
#include "runtime/host/text_pieces.h"
#include "runtime/runtime.h"

namespace tenon::runtime {

/// Passes on what a host's runtime does: to its observer, and to the requests that wait for it. Used by the host's
/// thread.
class HostListener final : public Listener {
 public:
  struct Parts {
    HostObserver& observer;
    HostCounts& counts;
    PendingReplies& pending;
    journal::Wakeups& wakeups;  ///< pieces of answers are published for processes elsewhere
    // Made after this, and before the runtime does anything.
    const std::unique_ptr<Runtime>& runtime;
    const std::unique_ptr<ResidentRuns>& residents;
    const std::unique_ptr<RunSchedule>& schedule;
  };
  explicit HostListener(Parts parts) : parts_(parts) {}
  HostListener(const HostListener&) = delete;
  HostListener& operator=(const HostListener&) = delete;

  using DetachedRuns = std::vector<std::pair<journal::RunName, RunDetached>>;
  /// The runs that were detached since the last call.
  [[nodiscard]] DetachedRuns take_detached() { return std::exchange(detached_, {}); }

  /// Who gets what was written so far of a run's answers, because they have begun to follow it late.
  enum class Follower : bool { Observer, OtherOwners };
  void repeat_text(RunId run, Follower follower);

 private:
  void on_generation_started(const SentGeneration& generation) override;
  void on_text(RunId run, std::string_view key, std::uint32_t attempt, std::uint32_t transport_attempt,
               std::string_view piece) override;
  void on_run_ended(RunId run, const EndedRun& ended) override;
  void on_run_released(RunId run) override;
  void on_outcome_dropped(RunId run, std::string_view key) override;
  void on_recorded(const RecordBatch& batch) override;

  const Parts parts_;
  TextPieces pieces_;
  DetachedRuns detached_;
};

}  // namespace tenon::runtime
