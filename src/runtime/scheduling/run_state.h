#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "effects/effect.h"
#include "journal/store.h"
#include "runtime/conversation.h"
#include "runtime/events.h"
#include "runtime/recording/run_journal.h"
#include "runtime/recovery/known_outcomes.h"
#include "runtime/run_core.h"
#include "runtime/run_options.h"

/// What a Runtime keeps of each run in memory.
namespace tenon::runtime {

/// An outcome that has arrived, and that the machine gets once all its branches wait.
struct PendingOutcome {
  std::string key;
  vm::Outcome outcome;
  effects::Cost cost;
  effects::OutcomeForm form;  ///< for its record; without one, or if a value is nested too deep for it, empty
  std::vector<journal::Note> notes = {};  ///< become durable together with its record
  bool is_of_notification = false;
  std::optional<std::string> said = std::nullopt;  ///< the person's resolution of a call that was cut off
};

/// A cancel that is to begin, or to happen at once.
struct PendingCancel {
  effects::CancelWanted wanted;
  std::vector<journal::Note> notes = {};  ///< become durable together with its record
};

/// A run in memory.
struct Run {
  std::shared_ptr<const ProgramImage> image;
  std::unique_ptr<RunCore> core;  ///< null for a conversation without a turn
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
  std::optional<PendingCancel> cancel;  ///< begins once all branches wait
  bool is_queued = false;
  bool is_quiescent = false;
  bool is_end_reported = false;
  std::size_t outgoing = 0;  ///< batches in the gate
  /// The pool of hosts to which the run moves when nothing of it is in progress: a request waits for them.
  std::optional<std::string> moves_to = {};
  std::optional<std::uint64_t> moved_after = {};  ///< the number of the newest record when it moved
  std::int64_t newest_time = 0;                   ///< of a record or a wait of the run, in milliseconds since 1970
  std::uint64_t stored_records = 0;
  std::uint64_t snapshot_bytes = 0;
};

/// It does not continue in this process, and records nothing any more.
[[nodiscard]] inline bool is_detached(const Run& run) {
  return run.end && std::holds_alternative<RunDetached>(*run.end);
}

}  // namespace tenon::runtime
