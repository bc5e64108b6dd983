#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "journal/store.h"
#include "runtime/events.h"
#include "runtime/runtime.h"

namespace tenon::runtime {

/// The runs of a host that are in memory. A run leaves the memory when it has ended; of those that only wait, the ones
/// that have waited longest leave it when there are too many. Used by the host's thread.
class ResidentRuns {
 public:
  struct Resident {
    journal::RunName name;         ///< empty: not in memory
    std::uint64_t idle_since = 0;  ///< key in `idle_`; 0: not there
    bool is_touched = false;
    bool has_recorded = false;  ///< something since it came into memory
  };

  /// `runtime` outlives this.
  explicit ResidentRuns(Runtime& runtime) : runtime_(runtime) {}

  [[nodiscard]] std::optional<RunId> find(const journal::RunName& run) const;
  [[nodiscard]] std::size_t size() const { return by_name_.size(); }
  void add(RunId run, const journal::RunName& name);
  [[nodiscard]] Resident& operator[](RunId run) { return runs_[run.index]; }

  /// Its place is free again.
  void forget(RunId run);
  /// Something happens to the run: it may have become idle, or not be idle any more.
  void touch(RunId run);
  /// The same, because records have become durable.
  void note_recorded(RunId run);
  [[nodiscard]] bool has_touched() const { return !touched_.empty(); }
  /// Releases those of the touched runs that have ended, and the longest idle ones beyond `idle_max`, unless their time
  /// has come.
  struct Released {
    std::size_t count = 0;
    std::vector<journal::RunName> waiting;  ///< those of them that wait, and that any owner of the store may continue
  };
  Released release_idle(std::size_t idle_max);
  /// Runs that only wait.
  [[nodiscard]] std::size_t idle() const { return idle_.size(); }

 private:
  void look_at(RunId run);
  void release(RunId run);

  Runtime& runtime_;
  std::vector<Resident> runs_;  ///< by RunId
  std::unordered_map<std::string, RunId> by_name_;
  std::map<std::uint64_t, RunId> idle_;  ///< longest idle first
  std::uint64_t idle_counter_ = 0;
  std::vector<RunId> touched_;
  Released released_;            ///< since `release_idle` was called
  std::vector<RunId> starting_;  ///< not idle yet, and without records whose commit would touch them
};

}  // namespace tenon::runtime
