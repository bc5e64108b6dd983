#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "algebra/fork.h"
#include "algebra/fork_estimate.h"
#include "base/result.h"
#include "bytecode/bounds.h"
#include "engine/engine_error.h"
#include "engine/system.h"
#include "journal/store.h"

namespace tenon::engine {

/// Which runs may be forked. A run whose budget is spent continues as a fork with a larger one.
enum class ForkableRuns : bool { All, BudgetSpent };

/// How a run of a store is forked. What is empty or absent is that of the run.
struct ForkChoice {
  journal::RunName from;
  std::optional<std::uint64_t> at = {};  ///< the number of the last record whose outcome may be reused; absent: all
  bytecode::Bounds budgets = {};
  std::string model = {}, judge = {};       ///< for the record
  std::vector<std::string> libraries = {};  ///< likewise, absolute paths
  std::shared_ptr<const vm::LoadedProgram> program = nullptr;
  ForkableRuns forkable = ForkableRuns::All;
};

/// Prepares a fork of that name (algebra::prepare_fork). `store_path`: the path or URL of the store, by which the key
/// of its secrets is found. `NotFound` without such a run, `Usage` if it has fewer records than `at`, `Conflict` if it
/// may not be forked.
[[nodiscard]] Result<algebra::PreparedFork, EngineError> prepare_fork(journal::Store& store,
                                                                      const journal::RunName& name,
                                                                      const ForkChoice& choice,
                                                                      const std::string& store_path,
                                                                      const System& system);

/// What such a fork would take from the record and request anew (algebra::estimate_fork). Fails as `prepare_fork` does,
/// and with `WrongInput` if the run cannot be continued in the program.
[[nodiscard]] Result<algebra::ForkEstimate, EngineError> estimate_fork(journal::Store& store, const ForkChoice& choice,
                                                                       const System& system);

}  // namespace tenon::engine
