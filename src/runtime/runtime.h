#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/effects/in_progress.h"
#include "runtime/recovery/loaded_run.h"
#include "runtime/recovery/recovery.h"
#include "runtime/runtime_options.h"
#include "runtime/scheduling/run_state.h"
#include "runtime/waits/waits.h"

namespace tenon::runtime {

struct RuntimeParts;

/// Runs programs on one thread: thousands at once, each waiting for its effects while the others continue. With a
/// store, no effect starts and no listener is notified before the records that led to it are durable: the new records
/// of all runs are committed together, and then acted on. runtime.cpp puts its parts together.
class Runtime final {
 public:
  Runtime(RuntimeDependencies dependencies, RuntimeOptions options);
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  /// `arguments` must have the types of the function's parameters. With a `name`, the run is stored.
  RunId start(std::shared_ptr<const ProgramImage> image, std::uint32_t function, std::vector<vm::Argument> arguments,
              RunOptions options, std::optional<journal::RunName> name = std::nullopt);
  /// Resumes a run of the store where its journal ends. With `SameModel::Yes`, a model that follows a script skips the
  /// answers that it has given already.
  [[nodiscard]] Result<RunId, RecoveryError> resume(const journal::RunName& name, const ImageSource& images,
                                                    SameModel same);
  /// The same for a run that was claimed and then loaded as `snapshot_use` says: does not wait for the disk.
  [[nodiscard]] Result<RunId, RecoveryError> resume(LoadedRun& loaded, const ImageSource& images);
  /// Begins a conversation with an agent, an index into Program::agents; it waits for the first prompt.
  RunId start_conversation(std::shared_ptr<const ProgramImage> image, std::uint32_t agent, RunOptions options,
                           std::optional<journal::RunName> name = std::nullopt);
  /// Prompts the agent: its next turn begins. Refused while one is in progress. `input`: a text type raw, the rest as
  /// JSON.
  [[nodiscard]] Result<void, PromptRefusal> prompt(RunId run, std::string_view input);
  /// Another program continues the conversation, from its next turn on; durable with the next commit. Refused within
  /// a turn, and when the agent's state cannot become what the new program has (runtime/recovery/migration.h). Nothing
  /// happens when it is the program that the conversation has. `libraries`: for the record, as RunOptions has them.
  [[nodiscard]] Result<void, PromptRefusal> upgrade_program(RunId run, std::shared_ptr<const ProgramImage> image,
                                                            std::vector<std::string> libraries);
  /// Ends the current turn, not the conversation. Effects in progress are cancelled, except for calls that are made at
  /// most once and those of `shield` blocks, and the `finally` blocks around them run before the turn has ended. A
  /// second call ends these too. `notes`: become durable together with what is
  /// recorded of it.
  void cancel_turn(RunId run, std::string reason, std::vector<journal::Note> notes = {});
  /// Null for a run of a function.
  [[nodiscard]] const Conversation* conversation(RunId run) const { return state_of(run).conversation.get(); }
  /// The outcome of the newest turn that has ended.
  [[nodiscard]] const std::optional<TurnOutcome>& turn_outcome(RunId run) const { return state_of(run).turn_outcome; }

  /// Whether `answer` accepts any text as it is: a text is expected, or an extern asks. False if nothing waits.
  [[nodiscard]] bool takes_raw_answer(RunId run, std::string_view wait) const;
  /// The answer to a question: text types raw, the rest as JSON. `notes`: become durable together with the answer.
  [[nodiscard]] Result<void, AnswerRefusal> answer(RunId run, std::string_view wait, std::string_view input,
                                                   std::vector<journal::Note> notes = {});
  /// Ends the run as `cancel_turn` ends a turn.
  void cancel(RunId run, std::string reason, std::vector<journal::Note> notes = {});
  /// Stores notes together with what was recorded since the last poll. The run has a store.
  void keep_notes(RunId run, std::vector<journal::Note> notes);

  /// Polls until no run can continue: each has ended, or waits for a person or for time to pass. `stop`, when given, is
  /// read between steps: once it is set, the runtime drains for the time that `grace` returns, and the runs that have
  /// not ended are left as they are. Without `grace` the time is zero; if it returns nothing, nothing is drained, and
  /// effects in progress continue.
  void run(const std::atomic<bool>* stop = nullptr, const Grace& grace = {});

  /// Starts no further effects of runs with a store and waits, `grace` at most, for those in progress. Their outcomes
  /// become durable, and the process that resumes the runs continues from there. A call of a `once` extern whose
  /// request is already durable counts as started and is made. Effects that take longer are cancelled. The runtime
  /// cannot be used afterwards.
  void drain(std::chrono::milliseconds grace);
  /// Other owners of the store continue the recorded runs: they are detached here.
  void detach_recorded();
  /// What `drain` would wait for.
  [[nodiscard]] EffectsInProgress list_effects_in_progress() const;
  /// The calls in progress of a run that are made at most once.
  [[nodiscard]] std::vector<OnceCall> list_once_calls(RunId run);
  /// Whether the run, or its turn, was cancelled, and what that ends has not begun to clean up.
  [[nodiscard]] bool is_cancelling(RunId run) const { return state_of(run).cancel.has_value(); }

  /// For callers with other work to do: gives each run that can continue a slice, commits, and then looks for outcomes
  /// of effects in progress. Waits for them if no run had a slice, `wait` at most and not beyond the next timer.
  /// Returns false, without waiting, when there are none and no run can continue; a commit may be in progress even so
  /// (`is_committing`). `stop` ends it between two slices.
  bool poll(std::chrono::milliseconds wait, const std::atomic<bool>* stop = nullptr);
  /// For a caller that must not be kept: gives each run that can continue a slice of at most so many instructions, and
  /// commits. Begins effects, but neither calls an extern on this thread nor looks for outcomes: some models compute
  /// while they are polled. Returns whether a run can continue or an effect is in progress.
  bool poll_briefly(std::uint64_t instructions);
  /// Commits the records of all runs and starts nothing any more. Effects in progress are cancelled, and performed
  /// again when the runs are resumed.
  void stop();
  /// Between polls: whether a commit was begun whose outcome the next polls take.
  [[nodiscard]] bool is_committing() const;
  /// Ends a `poll` that waits. From any thread.
  void wake();
  /// RuntimeDependencies::store; waits for the commit in progress, which has the store for itself.
  [[nodiscard]] journal::Store& store();
  /// Until the next timer fires; nothing when none is set.
  [[nodiscard]] std::optional<std::chrono::milliseconds> time_to_timer();
  /// Between polls: whether the run has ended and that was reported, or only waits, and all its records are durable.
  [[nodiscard]] bool is_idle(RunId run) const;
  /// Forgets an idle run: the store has it. The id is used again for another one. When its timers are due by the
  /// monotonic clock is kept until it is resumed here, whatever the wall clock is set to meanwhile.
  void release(RunId run);
  /// A released run that has moved to another host, as it was then; null: it is not known any more.
  [[nodiscard]] std::shared_ptr<ParkedRun> take_parked(const journal::RunName& run);
  /// Released runs with a timer that is due by now; each is returned once.
  [[nodiscard]] std::vector<journal::RunName> take_due_released();
  /// Until the next released run has a timer that is due.
  [[nodiscard]] std::optional<std::chrono::milliseconds> time_to_released() const;
  /// Whether the run was released with a timer of this recorded time, and none of its timers is due yet.
  [[nodiscard]] bool is_released_until_later(const journal::RunName& run, std::int64_t wake_at) const;
  /// The run is not resumed here.
  void forget_released(const journal::RunName& run);
  /// Removes a run that was begun and of which nothing is stored yet; it may be one without a store.
  void abandon(RunId run);

  /// Nothing while the run has not ended; a conversation ends when it is cancelled.
  [[nodiscard]] const std::optional<RunEnd>& end(RunId run) const { return state_of(run).end; }
  [[nodiscard]] const vm::LoadedProgram& program(RunId run) const { return *state_of(run).image->loaded(); }
  /// Not of a conversation without a turn.
  [[nodiscard]] const vm::Machine& machine(RunId run) const { return state_of(run).core->machine(); }
  /// The function that it was started with: an index into Program::functions.
  [[nodiscard]] std::uint32_t function(RunId run) const { return state_of(run).function; }
  [[nodiscard]] const journal::RunName* name(RunId run) const;
  /// The function's name, and the number of its newest record, durable or not.
  [[nodiscard]] const std::string& title(RunId run) const { return state_of(run).title; }
  [[nodiscard]] std::uint64_t last_record(RunId run) const { return state_of(run).journal.last(); }
  /// The epoch of its appends, in a store.
  [[nodiscard]] std::uint64_t epoch(RunId run) const { return state_of(run).journal.epoch(); }
  /// Whether the store has records of it, from which it can be resumed.
  [[nodiscard]] bool is_stored(RunId run) const { return state_of(run).stored_records > 0; }
  /// The questions that the run waits for a person to answer.
  [[nodiscard]] std::vector<PendingInput> questions(RunId run) const;
  /// Whether the run has asked several questions, one after the other or at once, so that an answer has to name its
  /// question; nothing if only the store's records say it (runtime::has_asked_several).
  [[nodiscard]] std::optional<bool> knows_asked_several(RunId run) const;
  /// The same. Reads the store where it has to; false for a run whose records cannot be read.
  [[nodiscard]] bool has_asked_several(RunId run) const;
  /// The models and tools that cannot be reached and that the run waits for.
  [[nodiscard]] std::vector<PendingRetry> retries(RunId run) const;
  /// Tries at once to reach the services that the run waits for; if that fails, their delays start from the first
  /// again.
  void retry_services(RunId run);
  /// The number of outcomes that a fork has taken from its original run, without those that it began with.
  [[nodiscard]] std::uint64_t known_taken(RunId run) const;
  /// When the run's next timer fires, milliseconds since 1970.
  [[nodiscard]] std::optional<std::int64_t> wakes_at(RunId run) const;
  /// The times that the run waits for by themselves (runtime::timers_of).
  [[nodiscard]] std::vector<std::int64_t> timers(RunId run) const { return timers_of(state_of(run)); }
  /// Whether the time of one of the run's timers has come.
  [[nodiscard]] bool has_due_timer(RunId run);
  [[nodiscard]] std::size_t effects_in_progress() const;

 private:
  [[nodiscard]] const Run& state_of(RunId run) const;

  std::unique_ptr<RuntimeParts> parts_;
};

/// How a run is loaded that the model may have answered before.
[[nodiscard]] SnapshotUse snapshot_use(const inference::Model& model, SameModel same);

/// For people: `error: …` lines with the place, the call stack and what to do. Files as paths.
[[nodiscard]] std::string describe_failure(const vm::LoadedProgram& program, const vm::FailureReport& report);

}  // namespace tenon::runtime
