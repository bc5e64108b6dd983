#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "effects/effect.h"
#include "inference/model.h"
#include "inference/prompting/repair_loop.h"
#include "journal/store.h"
#include "runtime/conversation.h"
#include "runtime/events.h"
#include "runtime/known_outcomes.h"
#include "runtime/run_core.h"
#include "runtime/run_journal.h"
#include "runtime/run_options.h"
#include "runtime/stream_guard.h"

/// What a Runtime keeps of each run in memory, and of each effect in progress.
namespace tenon::runtime {

/// An outcome that has arrived and that the machine gets once it is at rest.
struct PendingOutcome {
  std::string key;
  vm::Outcome outcome;
  effects::Cost cost;
  effects::OutcomeForm form;  ///< for its record; without one, or if a value is nested too deep for it, empty
  std::optional<journal::Note> note = std::nullopt;
  std::optional<std::string> said = std::nullopt;  ///< by a person, of a call that was cut off
};

/// A run in memory.
struct Run {
  std::shared_ptr<const ProgramImage> image;
  std::unique_ptr<RunCore> core;  ///< null for a conversation in which nothing was said yet
  RunJournal journal;
  std::unique_ptr<KnownOutcomes> known;  ///< of a fork that may take some
  RunOptions options;
  std::uint32_t function = 0;
  std::string title;                            ///< the function's name
  std::deque<PendingOutcome> pending_outcomes;  ///< outcomes that the machine has not been given yet
  std::vector<std::string> to_perform;          ///< keys of requests that wait for the commit
  std::optional<RunEnd> end;
  std::unique_ptr<Conversation> conversation;  ///< of an agent's run: then `core` is its newest turn
  std::optional<TurnOutcome> turn_outcome;
  std::optional<effects::CancelWanted> cancel;  ///< from when the run is at rest
  bool is_queued = false;
  bool is_quiescent = false;
  bool is_end_reported = false;
  std::size_t outgoing = 0;  ///< in the gate: what follows must wait too
  std::uint64_t stored_records = 0;
  std::uint64_t snapshot_bytes = 0;
};

/// A model's answer that is waited for.
struct Generation {
  RunId run;
  vm::Request request;
  std::string key;
  inference::prompting::RepairLoop repair_loop;
  vm::Usage usage;
  effects::Cost cost;
  inference::EarlierAttempts earlier = {};  ///< at sending the newest request, before this process
  std::unique_ptr<StreamGuard> guard = nullptr;
  bool is_stopped = false;  ///< what it has said can satisfy no contract: that is its answer
  std::optional<std::uint64_t> time_left = std::nullopt;  ///< as ExternCall has it, earlier attempts included
};

/// A call of an extern that is in progress.
struct ExternCall {
  RunId run;
  vm::Request request;
  std::chrono::nanoseconds started{};
  std::vector<std::string> secrets;  ///< texts that it was given and that it may not give back
  /// Milliseconds that a budget of time has left it at its start.
  std::optional<std::uint64_t> time_left = std::nullopt;
};

/// Fires at a time, for a request that waits for it.
struct Timer {
  RunId run;
  std::string key;
};

/// Whether a run begins, or continues where its journal ends.
enum class Resumed : bool { No, Yes };

/// A hundred years: the longest wait, whose end is a date that every calendar has.
inline constexpr std::int64_t wait_ms_max = std::int64_t{100} * 365 * 24 * 60 * 60 * 1000;
/// Both in milliseconds; at most `wait_ms_max` later, and no earlier.
[[nodiscard]] std::int64_t time_after(std::int64_t now_ms, std::int64_t milliseconds);

/// Whose function a request stands in, as records have it.
void place(const Run& run, const vm::Request& request, std::string& agent, std::uint32_t& depth);

}  // namespace tenon::runtime
