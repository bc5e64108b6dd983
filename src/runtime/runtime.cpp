#include "runtime/runtime.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/counted.h"
#include "base/ensure.h"
#include "runtime/effects/released_timers.h"
#include "runtime/recovery/asked_questions.h"
#include "runtime/scheduling/starter.h"

namespace tenon::runtime {

namespace {

/// The number of calls of a failure's call stack that are reported, innermost first; a trace has more of them.
constexpr std::size_t shown_calls_max = 16;

}  // namespace

/// What a runtime consists of. Each part knows those before it.
struct RuntimeParts {
  RuntimeParts(RuntimeDependencies given, const RuntimeOptions& wanted)
      : dependencies(std::move(given)), options(wanted) {}

  RuntimeDependencies dependencies;
  RuntimeOptions options;
  RunTable runs;
  CommitGate gate{dependencies.store, dependencies.committer};
  Recorder recorder{dependencies.clock};
  RunSecrets secrets{dependencies.secrets};
  Timers timers{runs};
  Outcomes outcomes{runs, recorder, secrets, timers, dependencies.random_unit};
  Requests requests{runs, recorder, outcomes, dependencies.model, dependencies.random_unit};
  Questions questions{runs, recorder, secrets, outcomes, dependencies.prompter, options.answers_come_later};
  Generations generations{runs, outcomes, dependencies.model, dependencies.clock, dependencies.listener};
  ExternCalls calls{runs,
                    outcomes,
                    questions,
                    secrets,
                    dependencies.extern_caller,
                    dependencies.clock,
                    dependencies.listener,
                    options.lone_call};
  Effects effects{runs, recorder, outcomes, timers, questions, generations, calls};
  Cancellation cancellation{runs, recorder, effects};
  ParkedRuns parked;
  Scheduler scheduler{runs, recorder, requests, effects, questions, cancellation, parked, gate, dependencies, options};
  ReleasedTimers released_timers;
  Starter starter{runs,      recorder, secrets,      requests, questions, released_timers,
                  scheduler, gate,     dependencies, options};
};

Runtime::Runtime(RuntimeDependencies dependencies, RuntimeOptions options)
    : parts_(std::make_unique<RuntimeParts>(std::move(dependencies), options)) {}

Runtime::~Runtime() {
  parts_->effects.cancel_all();
}

const Run& Runtime::state_of(RunId run) const {
  return parts_->runs[run];
}

RunId Runtime::start(std::shared_ptr<const ProgramImage> image, std::uint32_t function,
                     std::vector<vm::Argument> arguments, RunOptions options, std::optional<journal::RunName> name) {
  return parts_->starter.start(std::move(image), function, std::move(arguments), std::move(options), std::move(name));
}

Result<RunId, RecoveryError> Runtime::resume(const journal::RunName& name, const ImageSource& images, SameModel same) {
  return parts_->starter.resume(name, images, same);
}

Result<RunId, RecoveryError> Runtime::resume(LoadedRun& loaded, const ImageSource& images) {
  return parts_->starter.resume(loaded, images);
}

RunId Runtime::start_conversation(std::shared_ptr<const ProgramImage> image, std::uint32_t agent, RunOptions options,
                                  std::optional<journal::RunName> name) {
  return parts_->starter.start_conversation(std::move(image), agent, std::move(options), std::move(name));
}

Result<void, PromptRefusal> Runtime::prompt(RunId run, std::string_view input) {
  return parts_->starter.prompt(run, input);
}

Result<void, PromptRefusal> Runtime::upgrade_program(RunId run, std::shared_ptr<const ProgramImage> image,
                                                     std::vector<std::string> libraries) {
  return parts_->starter.upgrade_program(run, std::move(image), std::move(libraries));
}

void Runtime::cancel_turn(RunId id, std::string reason, std::vector<journal::Note> notes) {
  const Run& run = state_of(id);
  if (run.end || !run.conversation || !run.conversation->is_in_turn()) return;
  parts_->cancellation.request(id, {{std::move(reason), false}, std::move(notes)});
}

void Runtime::cancel(RunId run, std::string reason, std::vector<journal::Note> notes) {
  if (!state_of(run).end) parts_->cancellation.request(run, {{std::move(reason), true}, std::move(notes)});
}

bool Runtime::takes_raw_answer(RunId run, std::string_view wait) const {
  return parts_->questions.takes_raw_answer(run, wait);
}

Result<void, AnswerRefusal> Runtime::answer(RunId run, std::string_view wait, std::string_view input,
                                            std::vector<journal::Note> notes) {
  return parts_->questions.answer(run, wait, input, std::move(notes));
}

void Runtime::keep_notes(RunId run, std::vector<journal::Note> notes) {
  RunJournal& journal = parts_->runs[run].journal;
  ENSURE(journal.is_stored());
  journal.keep_notes(std::move(notes));
}

void Runtime::run(const std::atomic<bool>* stop, const Grace& grace) {
  parts_->scheduler.run(stop, grace);
}

void Runtime::detach_recorded() {
  parts_->scheduler.detach_recorded();
}

void Runtime::drain(std::chrono::milliseconds grace) {
  parts_->scheduler.drain(grace);
}

EffectsInProgress Runtime::list_effects_in_progress() const {
  return parts_->effects.list_in_progress();
}

std::vector<OnceCall> Runtime::list_once_calls(RunId run) {
  return parts_->effects.list_once_calls(run);
}

bool Runtime::poll(std::chrono::milliseconds wait, const std::atomic<bool>* stop) {
  return parts_->scheduler.poll(wait, stop);
}

bool Runtime::poll_briefly(std::uint64_t instructions) {
  return parts_->scheduler.poll_briefly(instructions);
}

void Runtime::stop() {
  parts_->scheduler.stop();
}

bool Runtime::is_committing() const {
  return parts_->gate.is_committing();
}

void Runtime::wake() {
  const RuntimeDependencies& dependencies = parts_->dependencies;
  dependencies.model.wake();
  if (dependencies.extern_caller != nullptr) dependencies.extern_caller->wake();
}

journal::Store& Runtime::store() {
  return *parts_->gate.store();
}

std::optional<std::chrono::milliseconds> Runtime::time_to_timer() {
  return parts_->effects.time_to_timer();
}

bool Runtime::is_idle(RunId run) const {
  return parts_->scheduler.is_idle(run);
}

void Runtime::release(RunId run) {
  ENSURE(is_idle(run));
  parts_->timers.remove(run);
  Run& released = parts_->runs[run];
  if (!released.end && released.core && released.journal.is_stored()) {
    parts_->released_timers.keep(released.journal.name(), *released.core, parts_->recorder.moment());
  }
  parts_->effects.cancel(run);
  if (parts_->dependencies.listener != nullptr) parts_->dependencies.listener->on_run_released(run);
  parts_->parked.keep(released);
  parts_->runs.remove(run);
}

std::shared_ptr<ParkedRun> Runtime::take_parked(const journal::RunName& run) {
  return parts_->parked.take(run);
}

std::vector<journal::RunName> Runtime::take_due_released() {
  return parts_->released_timers.take_due(parts_->dependencies.clock.monotonic());
}

std::optional<std::chrono::milliseconds> Runtime::time_to_released() const {
  return parts_->released_timers.time_to_next(parts_->dependencies.clock.monotonic());
}

bool Runtime::is_released_until_later(const journal::RunName& run, std::int64_t wake_at) const {
  return parts_->released_timers.waits(run, wake_at);
}

void Runtime::forget_released(const journal::RunName& run) {
  parts_->released_timers.forget(run);
}

void Runtime::abandon(RunId run) {
  const RunJournal& journal = state_of(run).journal;
  ENSURE(!journal.is_stored() || journal.is_untouched());
  if (parts_->dependencies.listener != nullptr) parts_->dependencies.listener->on_run_released(run);
  parts_->runs.remove(run);
}

const journal::RunName* Runtime::name(RunId run) const {
  const RunJournal& journal = state_of(run).journal;
  return journal.is_stored() ? &journal.name() : nullptr;
}

std::vector<PendingInput> Runtime::questions(RunId run) const {
  return questions_of(state_of(run));
}

std::optional<bool> Runtime::knows_asked_several(RunId run) const {
  if (!is_stored(run)) return false;
  const auto asked = state_of(run).journal.asked();
  return asked ? std::optional(*asked > 1) : std::nullopt;
}

bool Runtime::has_asked_several(RunId run) const {
  if (const auto known = knows_asked_several(run)) return *known;
  return runtime::has_asked_several(*parts_->dependencies.store, state_of(run).journal.name()).value_or(false);
}

std::vector<PendingRetry> Runtime::retries(RunId run) const {
  return retries_of(state_of(run));
}

void Runtime::retry_services(RunId run) {
  parts_->outcomes.retry_services(run);
}

std::uint64_t Runtime::known_taken(RunId id) const {
  const Run& run = state_of(id);
  return run.known ? run.known->taken() : 0;
}

std::optional<std::int64_t> Runtime::wakes_at(RunId run) const {
  return wake_time(state_of(run));
}

bool Runtime::has_due_timer(RunId id) {
  Run& run = parts_->runs[id];
  if (run.end || !run.core) return false;
  const Moment now = parts_->recorder.moment();
  return std::ranges::any_of(run.core->open(), [&now](auto& entry) {
    return entry.second.wake_at && entry.second.due_at(now) <= now.monotonic;
  });
}

std::size_t Runtime::effects_in_progress() const {
  return parts_->effects.in_progress();
}

SnapshotUse snapshot_use(const inference::Model& model, SameModel same) {
  const bool skips_answers = same == SameModel::Yes && model.follows_a_script();
  return skips_answers ? SnapshotUse::Ignore : SnapshotUse::Use;
}

std::string describe_failure(const vm::LoadedProgram& program, const vm::FailureReport& report) {
  std::string text = fmt::format("{}: error: {}\n", report.place, report.message);
  const std::vector<vm::CallStackEntry>& entries = report.call_stack.entries;
  for (std::size_t at = 0; at < entries.size() && at < shown_calls_max; ++at) {
    const bytecode::Function& function = program.program().functions[entries[at].function];
    text += fmt::format("  in `{}`, {}\n", function.name, program.describe(entries[at].place));
  }
  const std::uint64_t shown = std::min<std::uint64_t>(entries.size(), shown_calls_max);
  const std::uint64_t others = entries.size() - shown + report.call_stack.entries_left_out;
  if (others > 0) text += fmt::format("  and {} around it\n", counted(others, "call"));
  return text;
}

}  // namespace tenon::runtime
