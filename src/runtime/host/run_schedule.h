#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "journal/async_store.h"
#include "runtime/host/run_loader.h"

namespace tenon::runtime {

/// Loads the runs of a host that continue without a request: those that were interrupted, and those whose time has
/// come. While the disk is full, interrupted runs wait, because their effects would be performed for nothing. Used by
/// the host's thread.
class RunSchedule {
 public:
  struct Parts {
    journal::AsyncStore& store;
    Runtime& runtime;
    ResidentRuns& residents;
    RunLoader& loader;
    std::function<std::int64_t()> now_ms;                    ///< by the monotonic clock, as all times here
    std::function<std::int64_t()> wall_ms;                   ///< since 1970, as the times in the store
    std::function<void(const std::string& message)> report;  ///< a problem, for people
  };
  explicit RunSchedule(Parts parts) : parts_(std::move(parts)) {}
  RunSchedule(const RunSchedule&) = delete;
  RunSchedule& operator=(const RunSchedule&) = delete;

  /// Begins to look for runs that were interrupted.
  void begin();
  /// Begins loads whose time has come, a few at once.
  void poll();
  /// Until `poll` has something to do, unless work in progress is delivered before.
  [[nodiscard]] std::optional<std::chrono::milliseconds> time_to_next() const;

  enum class Reason : bool { Other, DiskFull };
  /// The run could not continue: it is loaded again in a while.
  void retry(const journal::RunName& run, Reason reason);
  /// The run was claimed while it was still in memory from before.
  void load(const journal::RunName& run) { interrupted_.emplace(0, run); }
  /// Something has become durable: there is room on the disk.
  void note_room() { room_wait_ms_ = 0; }
  /// The times in the store concern a run that has left the memory.
  void note_released();
  /// Reports a problem unless it was the last one reported, until a run is loaded.
  void report_problem(const std::string& message);

 private:
  [[nodiscard]] journal::Ownership& ownership() const { return parts_.store.owner().ownership(); }
  [[nodiscard]] bool may_claim() const;
  void claim_interrupted();
  void on_read_failed(const journal::StoreError& error);
  [[nodiscard]] std::int64_t load_not_before() const;
  void add_due_released();
  void load_interrupted();
  void load_one(const journal::RunName& run);
  void skip_claimed();
  void check_room();
  void on_interrupted_loaded(const journal::RunName& run, const Result<RunId, HostFailure>& loaded);
  void read_next_due();
  void read_due(std::int64_t wall_ms);
  void load_due(const std::vector<journal::DueRun>& due, std::size_t limit);
  void on_due_failed(const HostFailure& why);
  void end_due_pass();
  void restart_due_pass();

  /// Due runs are tried in passes over all of them, so that those that cannot be loaded delay no other one.
  struct DuePass {
    std::optional<journal::DueRun> after;  ///< those up to here have been tried
    std::size_t loading = 0;
    bool has_seen_all = false;
    bool has_skipped = false;              ///< runs whose timers fire by themselves
    std::optional<std::int64_t> retry_at;  ///< of those that could not be loaded

    [[nodiscard]] bool may_restart() const { return has_seen_all && loading == 0; }
  };

  const Parts parts_;
  std::multimap<std::int64_t, journal::RunName> interrupted_;  ///< by when they may be loaded
  bool is_claim_due_ = false;                                  ///< there may be more of them in the store
  bool is_claiming_ = false;
  std::uint64_t abandonments_ = 0;  ///< of other owners, when runs were claimed last
  std::uint64_t given_ = 0;         ///< as Ownership::given, at that time
  std::int64_t claim_at_ = 0;       ///< when runs are claimed without a reason
  std::int64_t read_not_before_ = 0;
  std::size_t loading_ = 0;        ///< of the interrupted
  std::int64_t room_wait_ms_ = 0;  ///< how long the last wait for room on the disk was; 0: there is room
  std::int64_t check_room_at_ = 0;
  bool is_checking_room_ = false;
  bool has_room_ = false;  ///< the check that is due has found some
  /// The smallest time in the store that the pass has not reached, in milliseconds since 1970.
  std::optional<std::int64_t> next_due_;
  bool is_next_due_known_ = false;
  std::int64_t next_due_at_ = 0;  ///< when it is read again, in a store with other owners
  bool is_reading_due_ = false;
  std::int64_t due_not_before_ = 0;
  DuePass due_pass_;
  std::string reported_problem_;
};

}  // namespace tenon::runtime
