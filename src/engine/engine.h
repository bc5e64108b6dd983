#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "effects/secret_vault.h"
#include "engine/engine_error.h"
#include "engine/event_queue.h"
#include "engine/model_choice.h"
#include "engine/program.h"
#include "engine/step_waker.h"
#include "engine/store_access.h"
#include "engine/system.h"
#include "engine/telemetry_setup.h"
#include "inference/model.h"
#include "journal/committer.h"
#include "runtime/host/visitor_inbox.h"
#include "runtime/listeners.h"
#include "runtime/runtime.h"
#include "tools/extern_caller.h"
#include "tools/provided_functions.h"

namespace tenon::engine {

/// Whether spans are exported as the environment's OpenTelemetry variables say.
enum class SpanExport : bool { Off, AsConfigured };
/// Whether events are collected for `Engine::next_event`. Collected ones take memory until they are taken.
enum class EventUse : bool { Dropped, Collected };

struct EngineOptions {
  std::unique_ptr<inference::Model> model = nullptr;  ///< null: the one that `model_choice` names is opened
  ModelChoice model_choice = {};                      ///< `spec` may be empty; with `model`: its name, for the record
  Watched watched = Watched::No;                      ///< of a model that is opened

  std::unique_ptr<journal::StoreConnection> store = nullptr;  ///< null: `store_choice` is opened, if it names a store
  StoreChoice store_choice = {};

  tools::ProvidedFunctionMap functions = {};                     ///< externs that the caller performs, by name
  tools::ProvidedHooks function_hooks = {};                      ///< of these
  std::unique_ptr<tools::ExternCaller> extern_caller = nullptr;  ///< for the other externs; null: the native ones
  std::optional<std::uint32_t> extern_threads = std::nullopt;    ///< nothing: the default

  SpanExport spans = SpanExport::AsConfigured;
  EventUse events = EventUse::Dropped;
  runtime::Listener* listener = nullptr;             ///< may be null; outlives the engine
  runtime::InteractivePrompter* prompter = nullptr;  ///< is asked where there is no store; may be null, too
  runtime::RuntimeOptions runtime = {};
};

/// How a run or a turn has ended.
struct RunResult {
  enum class How : std::uint8_t {
    Returned,   ///< `value` is JSON
    Failed,     ///< the program failed; `message` has the location and the call stack
    Cancelled,  ///< `message` is the reason
    Detached,   ///< the run could not be recorded any more: it can be resumed; `message` says why
    Damaged,    ///< the program did what compiled programs never do
  };
  How how = How::Returned;
  std::string value = {};
  std::string message = {};
  std::string kind = {};   ///< Failed: the kind of the failure, as the language names it
  std::string blame = {};  ///< Failed: the requirement, extern, model or budget that failed; may be empty
};

/// The result of a run that has returned this value.
[[nodiscard]] RunResult returned(const vm::Value& value, const vm::LoadedProgram& program);

/// What a run does between two steps.
enum class RunState : std::uint8_t {
  Running,
  Asks,   ///< it waits for a person's answer
  Ready,  ///< a conversation that waits for a prompt
  Ended,  ///< and that is durable
};

/// Runs programs: a runtime with everything that it uses. Several engines may exist in one process. Used by one thread,
/// which drives the runs with `next_event`; only `wake` may be called from elsewhere. Prints nothing.
class Engine final {
 public:
  /// Opens the model, the store and the exporter of spans. Copies `system`, whose files and clock outlive the engine.
  [[nodiscard]] static Result<std::unique_ptr<Engine>, EngineError> open(EngineOptions options, const System& system);
  /// What is not durable yet is lost, as in a crash; see `stop`.
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Loads a program for this engine, whose model, judge and provided functions its runs use, whatever the manifest
  /// names.
  [[nodiscard]] Result<Program, EngineError> load(const ProgramSource& source, Settings settings = {}) const;

  /// Starts a run of a function, which is recorded if there is a store. `arguments`: a JSON object with a member for
  /// each parameter.
  [[nodiscard]] Result<runtime::RunId, EngineError> start(const Program& program, std::string_view function,
                                                          std::string_view arguments);
  /// The same for an index into Program::functions, and values of the parameters' types.
  [[nodiscard]] Result<runtime::RunId, EngineError> start(const Program& program, std::uint32_t function,
                                                          std::vector<vm::Argument> arguments);
  /// Starts a conversation, which waits for its first prompt.
  [[nodiscard]] Result<runtime::RunId, EngineError> start_conversation(const Program& program, std::string_view agent);
  [[nodiscard]] Result<runtime::RunId, EngineError> start_conversation(const Program& program, std::uint32_t agent);
  /// Continues a run of the store with the program that it was started with. `libraries`: of its externs; empty: those
  /// of the run.
  [[nodiscard]] Result<runtime::RunId, EngineError> resume(const journal::RunName& run,
                                                           const std::vector<std::string>& libraries = {});
  /// The same with programs that are bound already.
  [[nodiscard]] Result<runtime::RunId, EngineError> resume(const journal::RunName& run,
                                                           const runtime::ImageSource& images,
                                                           runtime::SameModel same_model);

  /// Begins the next turn of a conversation. `input`: a text type raw, the rest as JSON.
  [[nodiscard]] Result<void, EngineError> prompt(runtime::RunId run, std::string_view input);
  /// Answers a question. `wait`: which one; may be empty if there is only one. `input`: a text type raw, the rest as
  /// JSON.
  [[nodiscard]] Result<void, EngineError> answer(runtime::RunId run, std::string_view wait, std::string_view input);
  /// Ends the run, or only the current turn; its blocks of `finally` run first. A second time ends these, too.
  void cancel(runtime::RunId run, std::string reason);
  void cancel_turn(runtime::RunId run, std::string reason);

  /// Whether the events of runs that start from now on are collected, if the engine was opened with
  /// EventUse::Collected.
  void collect_events(bool is_collecting);
  /// Gives each run that can continue a slice. If there is nothing to do, waits at most `wait` for an effect, a commit
  /// or a timer, and not after `wake`. Returns whether it was woken.
  bool step(std::chrono::milliseconds wait);
  /// Gives each run that can continue a short slice, and waits for nothing (Runtime::poll_briefly).
  void step_briefly();
  /// What calls the provided functions, for callers that make some outside of the engine; null: there are none. Such a
  /// caller asks for a call after each `step`, and continues the runs when it has brought one back.
  [[nodiscard]] tools::ProvidedFunctions* provided_functions() const { return functions_; }
  /// The oldest event, of this run or of any, without continuing the runs.
  [[nodiscard]] std::optional<RunEvent> take_event(std::optional<runtime::RunId> run = std::nullopt);
  [[nodiscard]] bool has_event() const { return events_ && !events_->is_empty(); }
  /// Continues the runs until there is an event. Returns nothing if there was none within `timeout`, if no run can
  /// continue (`can_continue`), and after `wake`, when each run that can continue has had a slice. Without
  /// EventUse::Collected it only continues the runs.
  [[nodiscard]] std::optional<RunEvent> next_event(std::chrono::milliseconds timeout);
  /// Whether a run can continue without an answer or a prompt, as far as the last `step` or `next_event` has found out.
  [[nodiscard]] bool can_continue() const { return can_continue_; }
  /// Makes a `step` or `next_event` that waits return, or else the next one. From any thread.
  void wake();

  /// `notify` is called, on another thread, when another process may have left a command for a run of this engine:
  /// then `step` is to be called. An empty one ends that.
  void on_command(std::function<void()> notify);

  /// The questions that the run waits for an answer to.
  [[nodiscard]] std::vector<runtime::PendingInput> questions(runtime::RunId run) const;
  [[nodiscard]] RunState state(runtime::RunId run) const;
  /// How a run with the state `Ended` has ended, without its value.
  [[nodiscard]] RunResult::How end_of(runtime::RunId run) const;
  /// How the run has ended; nothing while it has not.
  [[nodiscard]] std::optional<RunResult> result(runtime::RunId run) const;
  /// How the newest turn of the conversation has ended; nothing before the first end.
  [[nodiscard]] std::optional<RunResult> turn_result(runtime::RunId run) const;
  /// Answers of a scripted model that no run has asked for, for people; empty for other models.
  [[nodiscard]] std::vector<std::string> unused_answers() const { return options_.model->unused_answers(); }
  /// Forgets a run that has ended, which otherwise takes memory as long as the engine exists; the store keeps it. Its
  /// events that were not taken are dropped, and its id is used again for another run. `Conflict` while the run has
  /// not ended, its end is not durable yet, or it was released before.
  [[nodiscard]] Result<void, EngineError> release(runtime::RunId run);
  /// Releases the run as soon as it has ended, or waits for a person or a prompt. The store then has it; without a
  /// store such a run is cancelled, because no one could answer it.
  void let_go(runtime::RunId run);
  /// What a run has returned, for any thread. Nothing if the run has not returned, or its value cannot leave the
  /// engine: it is a Context, nested too deep, or too large for a text (vm::text_bytes_max).
  [[nodiscard]] std::optional<vm::Value> copy_value(runtime::RunId run) const;
  /// The same, and releases the run if there is a value.
  [[nodiscard]] std::optional<vm::Value> take_value(runtime::RunId run);
  /// The name under which the run is recorded; null without a store.
  [[nodiscard]] const journal::RunName* name(runtime::RunId run) const;

  /// Starts no further effects, waits at most `grace` for those in progress, makes everything durable, and closes the
  /// store. Afterwards
  /// only the destructor and `next_event` may be called, which returns the events that were not taken.
  void stop(std::chrono::milliseconds grace);

  /// The store of the runs, when no commit is in progress; null without one.
  [[nodiscard]] journal::Store* store() { return options_.store ? &runtime_->store() : nullptr; }
  [[nodiscard]] const std::string& model_spec() const { return options_.model_choice.spec; }
  [[nodiscard]] const std::string& judge_spec() const { return options_.model_choice.judge; }
  /// For callers that drive the runs themselves.
  [[nodiscard]] runtime::Runtime& runtime() { return *runtime_; }

 private:
  Engine(EngineOptions options, Telemetry telemetry, const System& system);
  [[nodiscard]] Result<void, EngineError> prepare_secrets(const runtime::ProgramImage& image);
  [[nodiscard]] std::optional<journal::RunName> make_name() const;
  [[nodiscard]] runtime::Listener* listener();
  void forget_gone();

  // In this order: later members use earlier ones.
  const System system_;
  EngineOptions options_;
  Telemetry telemetry_;
  effects::SecretVault secrets_;
  tools::ProvidedFunctions* functions_ = nullptr;  ///< within `options_`; null: none are provided
  std::optional<EventQueue> events_;
  StepWaker waker_;
  std::unique_ptr<runtime::Listeners> listeners_;
  std::optional<journal::ThreadCommitter> committer_;
  std::optional<runtime::VisitorInbox> inbox_;
  std::optional<runtime::Runtime> runtime_;
  std::set<runtime::RunId> let_go_;
  bool can_continue_ = true;
  bool is_stopped_ = false;
};

}  // namespace tenon::engine
