#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>

#include "journal/postgres/run_rows.h"
#include "journal/store.h"

namespace tenon::journal::postgres {

/// What a connection knows of a run of its own, so that an append need not read it first. It is right as long as no
/// other owner has the run; then the fence of the append finds out.
struct KnownRun {
  RunRow row;
  std::unordered_set<Hash> contents;  ///< some of those that the run has
};

/// The runs that a connection appends to. Used by one thread.
class KnownRuns {
 public:
  [[nodiscard]] KnownRun* find(const RunName& run);
  /// Drops everything if too much is known. Between two plans: what `find` and `put` have returned does not exist then.
  void make_room();
  /// Replaces what is known; contents that are known remain so.
  KnownRun& put(RunRow row);
  void forget(const RunName& run) { runs_.erase(run.text); }
  void forget_all() { runs_.clear(); }

  /// Contents are only removed with their run.
  void add_content(KnownRun& run, const Hash& hash);

  /// A body that runs share and that was in the store. It may have been removed since.
  [[nodiscard]] bool has_shared_body(const Hash& hash) const { return shared_bodies_.contains(hash); }
  void add_shared_body(const Hash& hash);
  void forget_shared_bodies() { shared_bodies_.clear(); }

 private:
  std::unordered_map<std::string, KnownRun> runs_;
  std::size_t contents_ = 0;  ///< an upper bound of their number in all runs
  std::unordered_set<Hash> shared_bodies_;
};

/// Beyond these numbers everything that is known is dropped, and read again when it is needed.
inline constexpr std::size_t known_runs_max = 50'000;
inline constexpr std::size_t known_contents_max = 500'000;
inline constexpr std::size_t known_shared_bodies_max = 10'000;

}  // namespace tenon::journal::postgres
