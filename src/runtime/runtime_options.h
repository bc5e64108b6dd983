#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "base/clock.h"
#include "effects/secret_vault.h"
#include "inference/model.h"
#include "journal/committer.h"
#include "journal/ownership.h"
#include "journal/store.h"
#include "runtime/agent_pools.h"
#include "runtime/events.h"
#include "runtime/other_requests.h"
#include "runtime/waits/waits.h"
#include "tools/extern_caller.h"

namespace tenon::runtime {

struct RuntimeOptions {
  /// Limit for the values of all runs together, checked between slices (scheduling/memory_limit.h). The run that
  /// exceeds it fails.
  std::uint64_t memory_bytes_max = std::uint64_t{512} << 20U;
  /// Instructions that a run may execute before the others get their turn.
  std::uint64_t slice_instructions = 500'000;
  /// A snapshot is taken when the records since the last one take more than it did, and more than this.
  std::uint64_t snapshot_bytes_min = std::uint64_t{64} << 10U;
  /// Appends that are gathered for one commit at most.
  std::size_t appends_per_commit_max = 4'096;
  /// Where a call of an extern runs when nothing else is in progress.
  tools::Placement lone_call = tools::Placement::Inline;
  /// Whether a commit is made on the caller's thread when nothing else is in progress: handing it to the committer
  /// costs a lone run more than it saves, unless the caller has other work that must not wait.
  bool commits_inline_when_alone = true;
  /// A run without a store waits for its timers; one with a store only for those that fire within this time.
  std::chrono::milliseconds patience{1'000};
  /// Where the agents of recorded runs are active; empty: here.
  AgentPools pools = {};
  /// `run` returns as soon as a person is asked and nothing else is to be done: it does not wait for timers then.
  bool asks_at_once = false;
  /// A run without a store that asks a person waits for `answer`, as one with a store does; the prompter is not used.
  bool answers_come_later = false;
};

/// The dependencies of a runtime; all of them outlive it.
struct RuntimeDependencies {
  inference::Model& model;
  tools::ExternCaller* extern_caller = nullptr;  ///< without one calls of externs fail
  Clock& clock;
  Listener* listener = nullptr;              ///< may be null
  std::function<double()> random_unit = {};  ///< in [0, 1); none: `random()` fails
  journal::Store* store = nullptr;           ///< none: the journals of runs are in memory
  /// Commits to that store while other effects are in progress; none: every commit is waited for.
  journal::Committer* committer = nullptr;
  /// Of that store: no effect of a recorded run begins unless the lease holds; none: it always does.
  journal::Ownership* ownership = nullptr;
  OtherRequests* requests = nullptr;        ///< is polled between steps, until `drain` or `stop`; may be null
  InteractivePrompter* prompter = nullptr;  ///< answers questions of runs without a store
  effects::SecretVault* secrets = nullptr;  ///< without one, programs with secrets cannot be run
};

}  // namespace tenon::runtime
