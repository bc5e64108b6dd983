#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "effects/secret_vault.h"
#include "inference/model.h"
#include "inference/prompting/repair_loop.h"
#include "journal/store.h"
#include "runtime/budget_ends.h"
#include "runtime/commit_gate.h"
#include "runtime/conversation.h"
#include "runtime/events.h"
#include "runtime/known_outcomes.h"
#include "runtime/loaded_run.h"
#include "runtime/recovery.h"
#include "runtime/run_core.h"
#include "runtime/run_journal.h"
#include "runtime/run_options.h"
#include "runtime/run_state.h"
#include "tools/extern_caller.h"

namespace tenon::runtime {

struct RuntimeOptions {
  /// What the values of all runs may take together, measured as the process's heap since the runtime was made, and
  /// checked between slices. The run that exceeds it fails.
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
  /// `run` returns as soon as a person is asked something and nothing else is to be done: it waits for no timer then.
  bool asks_at_once = false;
};

/// A question to a person, as the program asks it.
struct PendingInput {
  std::string wait;  ///< names it among the run's: what `answer` takes
  std::string text;
  std::string type;                   ///< of the answer, in the words of the program
  std::string schema;                 ///< of the answer: JSON Schema (2020-12)
  std::optional<std::int64_t> until;  ///< milliseconds since 1970
  bool is_secret = false;             ///< the answer holds one
  std::string agent;                  ///< this and the next: as a request of Ask has them (effects/record.h)
  std::vector<std::string> callers;
};

/// A model or a tool that cannot be reached.
struct PendingRetry {
  std::string effect;  ///< the request's key
  Outage outage;
  std::optional<std::int64_t> next_at;  ///< milliseconds since 1970; nothing: when the run is resumed
};

/// As JSON, an array: what the store keeps of a run that waits. A question has a member `wait`, a service that cannot
/// be reached has `unavailable` (`model` or `tool`).
[[nodiscard]] std::string describe(const std::vector<PendingInput>& questions,
                                   const std::vector<PendingRetry>& retries);

/// Answers questions interactively, for runs without a store.
class InteractivePrompter {
 public:
  virtual ~InteractivePrompter() = default;
  /// `complaint`: why the answer before was refused; empty at first. Returns nothing when there is no answer.
  [[nodiscard]] virtual std::optional<std::string> ask(const PendingInput& question, std::string_view complaint) = 0;
};

/// What a runtime works with; all of it outlives the runtime.
struct RuntimeDependencies {
  inference::Model& model;
  tools::ExternCaller* extern_caller = nullptr;  ///< without one calls of externs fail
  Clock& clock;
  Listener* listener = nullptr;              ///< may be null
  std::function<double()> random_unit = {};  ///< in [0, 1); none: `random()` fails
  journal::Store* store = nullptr;           ///< none: runs are not recorded
  /// Commits to that store while other effects are in progress; none: every commit is waited for.
  journal::Committer* committer = nullptr;
  InteractivePrompter* prompter = nullptr;  ///< is asked where there is no store
  effects::SecretVault* secrets = nullptr;  ///< without one no program with secrets can be run
};

/// Why an answer is not taken. The run keeps waiting.
struct AnswerRefusal {
  enum class Kind : std::uint8_t { NoSuchWait, TooLate, WrongAnswer, NoKey };
  Kind kind = Kind::NoSuchWait;
  std::string message;
  /// Whether no other answer would be taken either.
  [[nodiscard]] bool is_over() const { return kind == Kind::NoSuchWait || kind == Kind::TooLate; }
};

/// Why a prompt is not taken.
struct PromptRefusal {
  enum class Kind : std::uint8_t { NoConversation, InTurn, WrongInput, OtherProgram };
  Kind kind = Kind::NoConversation;
  std::string message;
};

/// Runs programs on one thread: thousands at once, each waiting for its effects while the others continue. With a
/// store, no effect starts and no listener is notified before the records that led to it are durable: the new records
/// of all runs are committed together, then acted upon.
class Runtime final : private inference::GenerationSink, private tools::ExternSink {
 public:
  Runtime(RuntimeDependencies dependencies, RuntimeOptions options);
  ~Runtime() override;
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  /// `arguments` must have the types of the function's parameters. `name`: makes it a recorded run.
  RunId start(std::shared_ptr<const ProgramImage> image, std::uint32_t function, std::vector<vm::Argument> arguments,
              RunOptions options, std::optional<journal::RunName> name = std::nullopt);
  /// Resumes a run of the store where its journal ends. With `SameModel::Yes`, a model that follows a script skips what
  /// it has answered already.
  [[nodiscard]] Result<RunId, RecoveryError> resume(const journal::RunName& name, const ImageSource& images,
                                                    SameModel same);
  /// The same for a run that was claimed and then loaded as `snapshot_use` says: waits for no disk.
  [[nodiscard]] Result<RunId, RecoveryError> resume(LoadedRun& loaded, const ImageSource& images);
  /// Begins a conversation with an agent, an index into Program::agents; it waits for the first prompt.
  RunId start_conversation(std::shared_ptr<const ProgramImage> image, std::uint32_t agent, RunOptions options,
                           std::optional<journal::RunName> name = std::nullopt);
  /// Prompts the agent: its next turn begins. Refused while one is in progress. `input`: a text type raw, the rest as
  /// JSON.
  [[nodiscard]] Result<void, PromptRefusal> prompt(RunId run, std::string_view input);
  /// Another program continues the conversation, from its next turn on; durable with the next commit. Refused within
  /// a turn, and when the agent's state cannot become what the new program has (migration.h). Nothing happens when it
  /// is the program that the conversation has. `libraries`: for the record, as RunOptions has them.
  [[nodiscard]] Result<void, PromptRefusal> upgrade_program(RunId run, std::shared_ptr<const ProgramImage> image,
                                                            std::vector<std::string> libraries);
  /// Ends the current turn, not the conversation. Effects in progress are cancelled; the blocks of `finally`
  /// around it run before the turn has ended. A second time ends these too.
  void cancel_turn(RunId run, std::string reason);
  /// Null for a run of a function.
  [[nodiscard]] const Conversation* conversation(RunId run) const { return runs_[run.index].conversation.get(); }
  /// Of the newest turn that has ended.
  [[nodiscard]] const std::optional<TurnOutcome>& turn_outcome(RunId run) const {
    return runs_[run.index].turn_outcome;
  }

  /// Whether `answer` takes a text as it is: a text is asked for, or by an extern. False where nothing waits.
  [[nodiscard]] bool takes_raw_answer(RunId run, std::string_view wait) const;
  /// The answer to a question: text types raw, the rest as JSON. `note`: becomes durable together with the answer.
  [[nodiscard]] Result<void, AnswerRefusal> answer(RunId run, std::string_view wait, std::string_view input,
                                                   std::optional<journal::Note> note = std::nullopt);
  /// The same for the run.
  void cancel(RunId run, std::string reason);
  /// Of a recorded run: becomes durable with its next commit.
  void keep_note(RunId run, journal::Note note);

  /// Polls until no run can continue: each has ended, or waits for a person or for time to pass. `stop`, when given, is
  /// read between steps: once it is set, the runtime drains for the time that `grace` returns (none: zero), and the
  /// runs that have not ended are left as they are.
  void run(const std::atomic<bool>* stop = nullptr, const std::function<std::chrono::milliseconds()>& grace = {});

  /// Starts no further effects of recorded runs and waits, `grace` at most, for those in progress; their outcomes
  /// become durable, and what follows from them is left to the process that resumes the runs. A call of a `once` extern
  /// whose request is already durable counts as started and is made. Effects that take longer are cancelled. Nothing
  /// may be asked of the runtime afterwards.
  void drain(std::chrono::milliseconds grace);

  /// For callers with other work to do: gives each run that can continue a slice, commits, and then waits for effects
  /// in progress, `wait` at most and not beyond the next timer. Returns false, without waiting, when there are none and
  /// no run can continue; a commit may be in progress even so.
  /// `stop` ends it between two slices.
  bool poll(std::chrono::milliseconds wait, const std::atomic<bool>* stop = nullptr);
  /// Commits the records of all runs and starts nothing any more. Effects in progress are cancelled, and performed
  /// again when the runs are resumed.
  void stop();
  /// Ends a `poll` that waits. From any thread.
  void wake();
  /// RuntimeDependencies::store; waits for the commit in progress, which has the store for itself.
  [[nodiscard]] journal::Store& store() { return *gate_.store(); }
  /// Until the next timer fires; nothing when none is set.
  [[nodiscard]] std::optional<std::chrono::milliseconds> time_to_timer();
  /// Between polls: whether the run has ended and that was reported, or only waits, and all its records are durable.
  [[nodiscard]] bool is_idle(RunId run) const;
  /// Forgets an idle run, its timers too: the store has it. The id is used again for another one.
  void release(RunId run);
  /// Takes back a run that was begun and of which nothing was recorded yet: it never was.
  void abandon(RunId run);

  /// Nothing while the run has not ended; a conversation ends when it is cancelled.
  [[nodiscard]] const std::optional<RunEnd>& end(RunId run) const { return runs_[run.index].end; }
  [[nodiscard]] const vm::LoadedProgram& program(RunId run) const { return *runs_[run.index].image->loaded(); }
  /// Not of a conversation in which nothing was said yet.
  [[nodiscard]] const vm::Machine& machine(RunId run) const { return runs_[run.index].core->machine(); }
  /// The one that it was started with: an index into Program::functions.
  [[nodiscard]] std::uint32_t function(RunId run) const { return runs_[run.index].function; }
  [[nodiscard]] const journal::RunName* name(RunId run) const;
  /// The function's name, and the number of its newest record, durable or not.
  [[nodiscard]] const std::string& title(RunId run) const { return runs_[run.index].title; }
  [[nodiscard]] std::uint64_t last_record(RunId run) const { return runs_[run.index].journal.last(); }
  /// Of a recorded run: whether the store has records of it, from which it can be resumed.
  [[nodiscard]] bool is_stored(RunId run) const { return runs_[run.index].stored_records > 0; }
  /// What the run waits for a person to say.
  [[nodiscard]] std::vector<PendingInput> questions(RunId run) const;
  /// The models and tools that cannot be reached and that the run waits for.
  [[nodiscard]] std::vector<PendingRetry> retries(RunId run) const;
  /// Tries at once to reach what the run waits for; the waits begin anew when that fails.
  void retry_services(RunId run);
  /// Outcomes that a fork has taken from the run that it comes from, without those that it began with.
  [[nodiscard]] std::uint64_t known_taken(RunId run) const;
  /// When the run's next timer fires, milliseconds since 1970.
  [[nodiscard]] std::optional<std::int64_t> wakes_at(RunId run) const;
  [[nodiscard]] std::size_t effects_under_way() const { return generations_.size() + calls_.size(); }

 private:
  void stop_broken();
  void step(RunId run);
  bool advance(RunId run);
  void open_requests(RunId run, const std::vector<std::string>& keys);
  bool give_known(RunId run, const OpenRequest& open, const effects::Finished& known);
  void record_request(Run& run, OpenRequest& open);
  void record_outcome(Run& run, PendingOutcome& arrived, const OpenRequest& open);
  void flush_step(RunId run);
  void commit();
  void on_committed(std::vector<CommittedBatch> passed);
  void notify_recorded(RunId run, const RecordList& list) const;
  void flush();
  void dispatch_effects(RunId run, const std::vector<std::string>& to_perform);
  void perform(RunId run, const std::string& key);
  void perform_generation(RunId run, const OpenRequest& open);
  void perform_extern(RunId run, const OpenRequest& open);
  /// The end of a call that is not in `calls_` any more.
  void conclude(ExternCall call, tools::ExternOutcome outcome, std::uint64_t milliseconds_min = 0);
  void time_out(RunId run, const std::string& key);
  /// With the open request's question. Becomes durable with the run's next commit.
  void record_pause(RunId run, OpenRequest& open, effects::Paused::Why why, effects::StoredText form = {});
  void ask_resolution(RunId run, const std::string& key);
  [[nodiscard]] Result<void, AnswerRefusal> take_resolution(RunId run, const std::string& key, std::string_view input,
                                                            std::optional<journal::Note> note);
  [[nodiscard]] std::optional<std::int64_t> extern_wakes_at(const OpenRequest& open,
                                                            const bytecode::Program& program) const;

  // secrets.cpp
  [[nodiscard]] Result<std::string, effects::SecretError> prepare_secrets(const ProgramImage& image);
  [[nodiscard]] Result<void, effects::SecretError> seal_arguments(const Run& run, std::span<vm::Argument> arguments);
  void seal_outcome(const Run& run, const std::string& key, const vm::Request& request, vm::Outcome& outcome);
  [[nodiscard]] Result<std::vector<vm::Value>, effects::SecretError> open_arguments(const Run& run,
                                                                                    const vm::Request& request,
                                                                                    std::vector<std::string>& texts);
  void hide_secrets(const ExternCall& call, tools::ExternOutcome& outcome);
  void detach_run(RunId run, std::string problem);

  void ask_person(RunId run, const std::string& key);
  void pause(RunId run, const std::string& key, std::string question);
  void ask_model(inference::GenerationId id);
  void record_attempt(RunId run, OpenRequest& open, effects::Attempted attempted);
  [[nodiscard]] bool await_service(RunId run, const std::string& key, Outage outage);
  void retry(RunId run, const std::string& key);
  void record_unusable(const Generation& generation, std::uint32_t attempt, const inference::Answer& answer);
  void enqueue_outcome(RunId run, std::string key, vm::Outcome outcome, effects::Cost cost);
  void fire_timers();
  void end_generation(inference::GenerationId id);
  void end_call(tools::CallId id);
  /// Whether `drain` has something to wait for.
  [[nodiscard]] bool awaits_outcomes() const;
  void end_wait(RunId id, const std::string& key);
  /// Whether any run waits for a person's answer.
  [[nodiscard]] bool is_person_asked() const;
  [[nodiscard]] bool is_waited_for(std::int64_t time, const Timer& timer) const;
  void enqueue(RunId run);
  [[nodiscard]] RunId add_run();
  void end_run(RunId run, RunEnd end);
  void end_turn(RunId run, TurnOutcome outcome);
  [[nodiscard]] vm::Outcome instant_outcome(effects::EffectKind kind) const;
  void fail_memory(RunId run);
  void request_cancel(RunId run, effects::CancelWanted wanted);
  void end_cancelled(RunId run, const effects::CancelWanted& wanted);
  void perform_again(RunId run);
  [[nodiscard]] bool is_under_way(RunId run, vm::RequestId request) const;
  [[nodiscard]] bool is_memory_spent() const;
  void cancel_request(RunId run, vm::RequestId request);
  void cancel_effects(RunId run);
  void cancel_all();
  void notify_run_started(RunId run, Resumed resumed) const;
  [[nodiscard]] std::int64_t now_ms() const;
  [[nodiscard]] journal::RunSummary summary_of(RunId run) const;
  [[nodiscard]] PendingInput question_of(const Run& run, const std::string& key, const OpenRequest& open) const;

  void on_text(inference::GenerationId generation, std::uint32_t attempt, std::string_view piece) override;
  void on_attempt_failed(inference::GenerationId generation, std::uint32_t failed, std::string_view reason,
                         std::chrono::milliseconds wait) override;
  void on_finished(inference::GenerationId generation, inference::GenerationOutcome outcome) override;
  void on_returned(tools::CallId call, tools::ExternOutcome outcome) override;

  RuntimeDependencies dependencies_;
  RuntimeOptions options_;
  std::deque<Run> runs_;
  std::vector<RunId> released_;  ///< places in runs_ that are free
  std::deque<RunId> ready_;
  CommitGate gate_;
  std::unordered_map<inference::GenerationId, Generation> generations_;
  std::vector<inference::GenerationId> to_stop_;  ///< whose contracts are broken already
  std::unordered_map<tools::CallId, ExternCall> calls_;
  std::multimap<std::int64_t, Timer> timers_;  ///< by milliseconds since 1970
  BudgetEnds budget_ends_;
  enum class Phase : std::uint8_t {
    Running,
    Draining,  ///< of recorded runs nothing is started but what counts as started already
    Stopping,  ///< nothing is started
  } phase_ = Phase::Running;
  std::uint64_t next_effect_ = 1;
  std::uint64_t heap_bytes_at_start_ = 0;
};

/// How a run is loaded that the model may have answered before.
[[nodiscard]] SnapshotUse snapshot_use(const inference::Model& model, SameModel same);

/// For people: `error: …` lines with the place, the call stack and what to do. Files as paths.
[[nodiscard]] std::string describe_failure(const vm::LoadedProgram& program, const vm::FailureReport& report);

}  // namespace tenon::runtime
