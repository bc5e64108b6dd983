#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/sha256.h"
#include "journal/store.h"
#include "runtime/recovery/recovery.h"
#include "runtime/scheduling/run_state.h"

namespace tenon::runtime {

/// A run that has moved to another host, as it was then. When it comes back, only what that host has recorded is read.
struct ParkedRun {
  std::uint64_t after = 0;  ///< the number of its newest record
  Hash chain;               ///< after that one
  RecoveredRun run;         ///< `head` is not that of the store
};

/// The runs that have moved last; of more than `parked_runs_max`, the oldest are forgotten. A run that is forgotten is
/// read as a whole when it comes back.
class ParkedRuns {
 public:
  /// Keeps what is to be released, if it is as it has moved: nothing has happened to it since.
  void keep(Run& run);
  /// Nothing if the run is not kept.
  [[nodiscard]] std::shared_ptr<ParkedRun> take(const journal::RunName& run);
  /// Forgets all.
  void clear();

  [[nodiscard]] const std::list<std::shared_ptr<ParkedRun>>& all() const { return newest_last_; }

 private:
  std::list<std::shared_ptr<ParkedRun>> newest_last_;
  std::unordered_map<std::string, std::list<std::shared_ptr<ParkedRun>>::iterator> by_name_;
};

inline constexpr std::size_t parked_runs_max = 1'000;

}  // namespace tenon::runtime
