#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
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
    ResidentRuns& residents;
    RunLoader& loader;
    std::function<std::int64_t()> now_ms;
    std::function<void(const std::string& message)> report;  ///< a problem, for people
  };
  explicit RunSchedule(Parts parts) : parts_(std::move(parts)) {}
  RunSchedule(const RunSchedule&) = delete;
  RunSchedule& operator=(const RunSchedule&) = delete;

  /// Finds the runs that were interrupted.
  void begin();
  /// Begins loads whose time has come, a few at once.
  void poll();
  /// Until `poll` has something to do, unless work in progress is delivered before.
  [[nodiscard]] std::optional<std::chrono::milliseconds> time_to_next() const;

  enum class Reason : bool { Other, DiskFull };
  /// The run could not continue: it is loaded again in a while.
  void retry(const journal::RunName& run, Reason reason);
  /// Something has become durable: there is room on the disk.
  void note_room() { retry_ms_ = 0; }
  /// The times in the store concern a run that has left the memory.
  void note_released();
  /// Reports a problem unless it was the last one reported, until a run is loaded.
  void report_problem(const std::string& message);

 private:
  void list_interrupted();
  void on_read_failed(const journal::StoreError& error);
  void load_interrupted();
  void skip_claimed();
  void check_room();
  void on_interrupted_loaded(const journal::RunName& run, const Result<RunId, HostFailure>& loaded);
  void read_next_due();
  void read_due(std::int64_t now);
  void on_due_failed(const journal::RunName& run, const HostFailure& why);
  void load_due(const std::vector<journal::RunHead>& due);

  const Parts parts_;
  std::deque<journal::RunName> interrupted_;
  bool is_list_due_ = false;  ///< of the interrupted
  std::int64_t read_not_before_ = 0;
  std::size_t loading_ = 0;           ///< of the interrupted
  std::int64_t load_not_before_ = 0;  ///< milliseconds since 1970, as all times here
  std::int64_t retry_ms_ = 0;         ///< how long the last wait for room on the disk was; 0: there is room
  bool is_checking_room_ = false;
  bool has_room_ = false;                 ///< the check that is due has found some
  std::optional<std::int64_t> next_due_;  ///< the store's smallest time
  bool is_next_due_known_ = false;
  bool is_reading_due_ = false;
  std::int64_t due_not_before_ = 0;
  std::unordered_map<std::string, std::int64_t> failed_due_;  ///< when each run may be loaded again, by its name
  std::string reported_problem_;
};

}  // namespace tenon::runtime
