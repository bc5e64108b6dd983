#include "engine/engine.h"

#include <fmt/format.h>

#include <algorithm>

#include "bytecode/agents.h"
#include "engine/extern_binding.h"
#include "engine/secret_key.h"
#include "engine/stored_program.h"
#include "json/reader.h"
#include "runtime/arguments.h"
#include "tools/native/isolate.h"
#include "tools/native/native_caller.h"
#include "types/table/type_table.h"
#include "vm/values/render.h"
#include "vm/values/text_size.h"

namespace tenon::engine {
namespace {

using runtime::RunId;

/// How long a step waits for a commit before it looks whether it was woken.
constexpr std::chrono::milliseconds commit_wait{50};
/// The slice of a run in `step_briefly`: it takes less than a millisecond.
constexpr std::uint64_t brief_instructions = 20'000;

EngineError refusal(EngineError::Kind kind, std::string message) {
  return {kind, std::move(message)};
}

EngineError to_error(const runtime::AnswerRefusal& refused) {
  using Kind = runtime::AnswerRefusal::Kind;
  switch (refused.kind) {
    case Kind::NoSuchWait:
      return refusal(EngineError::Kind::NotFound, refused.message);
    case Kind::TooLate:
      return refusal(EngineError::Kind::Conflict, refused.message);
    case Kind::WrongAnswer:
      return refusal(EngineError::Kind::WrongInput, refused.message);
    case Kind::NoKey:
      break;
  }
  return refusal(EngineError::Kind::Failed, refused.message);
}

EngineError to_error(const runtime::PromptRefusal& refused) {
  const bool is_input = refused.kind == runtime::PromptRefusal::Kind::WrongInput;
  return refusal(is_input ? EngineError::Kind::WrongInput : EngineError::Kind::Conflict, refused.message);
}

std::vector<std::string> names_of(const tools::ProvidedFunctions* functions) {
  return functions == nullptr ? std::vector<std::string>() : functions->names();
}

RunResult failed(const runtime::RunFailed& failure, const vm::LoadedProgram& program) {
  std::string message = runtime::describe_failure(program, failure.report);
  if (message.ends_with('\n')) message.pop_back();
  return {RunResult::How::Failed,
          {},
          std::move(message),
          std::string(types::failure_kind_name(failure.report.kind)),
          failure.report.blame};
}

}  // namespace

RunResult returned(const vm::Value& value, const vm::LoadedProgram& program) {
  RunResult result;
  if (const auto written = vm::to_json(value, program.types(), result.value); !written) {
    result = {RunResult::How::Damaged, {}, "the result cannot be given: " + vm::describe(written.error())};
  }
  return result;
}

Result<std::unique_ptr<Engine>, EngineError> Engine::open(EngineOptions options, const System& system) {
  std::string& spec = options.model_choice.spec;
  if (options.model == nullptr) {
    if (spec.empty()) spec = default_model;
    auto model = open_model(options.model_choice, options.watched, system);
    if (!model) return failure(std::move(model.error()));
    options.model = std::move(*model);
  } else if (spec.empty()) {
    spec = fmt::format("{}{}", own_model_prefix, options.model->name());
  }
  if (options.store == nullptr && !options.store_choice.path.empty()) {
    auto store = open_store(options.store_choice, StoreUse::Change, system);
    if (!store) return failure(std::move(store.error()));
    options.store = std::move(*store);
  }
  Telemetry telemetry;
  if (options.spans == SpanExport::AsConfigured) {
    auto opened = Telemetry::open(spec, system);
    if (!opened) return failure(std::move(opened.error()));
    telemetry = std::move(*opened);
  }
  return std::unique_ptr<Engine>(new Engine(std::move(options), std::move(telemetry), system));
}

Engine::Engine(EngineOptions options, Telemetry telemetry, const System& system)
    : system_(system),
      options_(std::move(options)),
      telemetry_(std::move(telemetry)),
      secrets_(secret_keys(options_.store_choice.path, system_)) {
  inference::Model& model = *options_.model;
  std::function<bool()> may_begin = begins_under_lease(options_.store.get());
  if (may_begin) model.begin_only_while(may_begin);
  if (options_.extern_caller == nullptr) {
    const std::string reports = reports_folder(options_.store_choice.reports, options_.store_choice.path, system_);
    options_.extern_caller = std::make_unique<tools::NativeCaller>(calling_options(
        system_, reports, options_.extern_threads, [&model] { model.wake(); }, may_begin));
  }
  if (!options_.functions.empty()) {
    auto caller = std::make_unique<tools::ProvidedFunctions>(
        std::move(options_.functions), std::move(options_.function_hooks), std::move(options_.extern_caller),
        [&model] { model.wake(); }, std::move(may_begin));
    functions_ = caller.get();
    options_.extern_caller = std::move(caller);
  }
  waker_.set(model, *options_.extern_caller);
  journal::Store* const store = options_.store ? &options_.store->journals() : nullptr;
  if (store != nullptr) {
    committer_.emplace(*store, [this] { waker_.stir(); });
    inbox_.emplace(runtime::VisitorInbox::Parts{.store = *options_.store,
                                                .committer = *committer_,
                                                .model = model,
                                                .clock = system_.clock,
                                                .secrets = &secrets_,
                                                .wake = [this] { waker_.stir(); }});
  }
  runtime_.emplace(runtime::RuntimeDependencies{.model = model,
                                                .extern_caller = options_.extern_caller.get(),
                                                .clock = system_.clock,
                                                .listener = listener(),
                                                .random_unit = system_.random_unit,
                                                .store = store,
                                                .committer = committer_ ? &*committer_ : nullptr,
                                                .ownership = options_.store ? &options_.store->ownership() : nullptr,
                                                .requests = inbox_ ? &*inbox_ : nullptr,
                                                .prompter = options_.prompter,
                                                .secrets = &secrets_},
                   options_.runtime);
  if (inbox_) inbox_->begin(*runtime_);
}

Engine::~Engine() = default;

/// The given listener, the spans, the queue of events, and the inbox, in this order.
runtime::Listener* Engine::listener() {
  std::vector<runtime::Listener*> all;
  if (options_.listener != nullptr) all.push_back(options_.listener);
  if (runtime::Listener* const spans = telemetry_.listener()) all.push_back(spans);
  if (options_.events == EventUse::Collected) all.push_back(&events_.emplace(system_.clock));
  if (inbox_) all.push_back(&*inbox_);
  if (all.size() < 2) return all.empty() ? nullptr : all.front();
  listeners_ = std::make_unique<runtime::Listeners>(std::move(all));
  return listeners_.get();
}

Result<Program, EngineError> Engine::load(const ProgramSource& source, Settings settings) const {
  settings.model.spec = options_.model_choice.spec;
  // Without a judge the model is its own, whichever the manifest names.
  settings.model.judge = options_.model_choice.judge.empty() ? settings.model.spec : options_.model_choice.judge;
  settings.provided = names_of(functions_);
  auto program = engine::load(source, settings, system_);
  if (program) program->options.judge = options_.model_choice.judge;
  return program;
}

Result<void, EngineError> Engine::prepare_secrets(const runtime::ProgramImage& image) {
  if (!image.has_secrets()) return {};
  const auto key = secrets_.prepare();
  if (!key) return failure(refusal(EngineError::Kind::Failed, key.error().message));
  return {};
}

std::optional<journal::RunName> Engine::make_name() const {
  if (!options_.store) return std::nullopt;
  return journal::make_run_name(wall_ms(system_.clock));
}

Result<RunId, EngineError> Engine::start(const Program& program, std::string_view function,
                                         std::string_view arguments) {
  const auto index = runtime::find_function(program.code(), function);
  if (!index)
    return failure(refusal(EngineError::Kind::Usage, runtime::describe_unknown_function(program.code(), function)));
  const auto json = parse_json(arguments);
  if (!json) {
    return failure(refusal(EngineError::Kind::WrongInput, "the arguments are not JSON: " + json.error().message));
  }
  const bytecode::Function& declared = program.code().functions[*index];
  auto values = runtime::read_json_arguments(*program.image, declared, declared.name, *json);
  if (!values) return failure(refusal(EngineError::Kind::WrongInput, std::move(values.error())));
  return start(program, *index, std::move(*values));
}

Result<RunId, EngineError> Engine::start(const Program& program, std::uint32_t function,
                                         std::vector<vm::Argument> arguments) {
  if (auto prepared = prepare_secrets(*program.image); !prepared) return failure(std::move(prepared.error()));
  can_continue_ = true;
  return runtime_->start(program.image, function, std::move(arguments), program.options, make_name());
}

Result<RunId, EngineError> Engine::start_conversation(const Program& program, std::string_view agent) {
  const auto index = bytecode::find_agent(program.code(), agent);
  if (!index) return failure(refusal(EngineError::Kind::Usage, runtime::describe_unknown_agent(program.code(), agent)));
  return start_conversation(program, *index);
}

Result<RunId, EngineError> Engine::start_conversation(const Program& program, std::uint32_t agent) {
  if (auto prepared = prepare_secrets(*program.image); !prepared) return failure(std::move(prepared.error()));
  can_continue_ = true;
  return runtime_->start_conversation(program.image, agent, program.options, make_name());
}

Result<RunId, EngineError> Engine::resume(const journal::RunName& run, const std::vector<std::string>& libraries) {
  if (!options_.store) return failure(refusal(EngineError::Kind::Conflict, "the engine has no store"));
  auto stored = read_stored_run(runtime_->store(), run);
  if (!stored) return failure(std::move(stored.error()));
  auto program = load_stored_program(*stored, {.externs = {libraries, names_of(functions_)}}, system_);
  if (!program) return failure(std::move(program.error()));
  const effects::RunSettings& settings = stored->started.settings;
  const bool is_same = settings.model == options_.model_choice.spec && settings.judge == options_.model_choice.judge;
  return resume(run, images_with(program->image), is_same ? runtime::SameModel::Yes : runtime::SameModel::No);
}

Result<RunId, EngineError> Engine::resume(const journal::RunName& run, const runtime::ImageSource& images,
                                          runtime::SameModel same_model) {
  auto resumed = runtime_->resume(run, images, same_model);
  if (!resumed) return failure(engine::to_error(resumed.error()));
  can_continue_ = true;
  return *resumed;
}

Result<void, EngineError> Engine::prompt(RunId run, std::string_view input) {
  if (auto taken = runtime_->prompt(run, input); !taken) return failure(to_error(taken.error()));
  can_continue_ = true;
  return {};
}

Result<void, EngineError> Engine::answer(RunId run, std::string_view wait, std::string_view input) {
  std::string chosen(wait);
  if (chosen.empty()) {
    std::vector<runtime::PendingInput> open = questions(run);
    if (open.empty()) return failure(refusal(EngineError::Kind::NotFound, "the run has no open question"));
    if (open.size() > 1) {
      return failure(refusal(EngineError::Kind::Conflict, "the run has several open questions; choose one"));
    }
    if (runtime_->has_asked_several(run)) {
      return failure(refusal(EngineError::Kind::Conflict,
                             "the run has asked other questions before: name the question that is answered"));
    }
    chosen = std::move(open.front().wait);
  }
  if (auto taken = runtime_->answer(run, chosen, input); !taken) return failure(to_error(taken.error()));
  can_continue_ = true;
  return {};
}

void Engine::cancel(RunId run, std::string reason) {
  runtime_->cancel(run, std::move(reason));
  can_continue_ = true;
}

void Engine::cancel_turn(RunId run, std::string reason) {
  runtime_->cancel_turn(run, std::move(reason));
  can_continue_ = true;
}

void Engine::collect_events(bool is_collecting) {
  if (events_) events_->collect(is_collecting);
}

std::optional<RunEvent> Engine::take_event(std::optional<RunId> run) {
  return events_ ? events_->take(run) : std::nullopt;
}

bool Engine::step(std::chrono::milliseconds wait) {
  if (is_stopped_) return true;
  // A wake ends the wait, not the work: the runs that can continue get their slice first.
  const bool was_woken = waker_.begin();
  if (was_woken) wait = std::chrono::milliseconds{0};
  const bool is_busy = runtime_->poll(wait);
  const auto timer = is_busy ? std::nullopt : runtime_->time_to_timer();
  const bool is_committing = !is_busy && runtime_->is_committing();
  can_continue_ = is_busy || timer.has_value() || is_committing;
  forget_gone();
  if (is_busy || !can_continue_ || wait.count() == 0 || has_event()) return was_woken;
  wait = std::min(timer.value_or(wait), wait);
  if (is_committing) {
    committer_->wait_for(std::min(wait, commit_wait));
  } else if (timer) {
    waker_.wait(system_.clock, wait);
  }
  return was_woken;
}

void Engine::step_briefly() {
  if (is_stopped_) return;
  const bool is_busy = runtime_->poll_briefly(brief_instructions);
  can_continue_ = is_busy || runtime_->time_to_timer().has_value() || runtime_->is_committing();
  forget_gone();
}

void Engine::forget_gone() {
  for (auto next = let_go_.begin(); next != let_go_.end();) let_go(*next++);
}

std::optional<RunEvent> Engine::next_event(std::chrono::milliseconds timeout) {
  const auto end = system_.clock.monotonic() + timeout;
  for (;;) {
    if (auto event = take_event()) return event;
    if (is_stopped_) return std::nullopt;
    const auto left = std::max(std::chrono::ceil<std::chrono::milliseconds>(end - system_.clock.monotonic()),
                               std::chrono::milliseconds{0});
    const bool was_woken = step(left);
    if (auto event = take_event()) return event;
    if (was_woken || !can_continue_ || left.count() == 0) return std::nullopt;
  }
}

void Engine::on_command(std::function<void()> notify) {
  if (inbox_) inbox_->on_notice(std::move(notify));
}

void Engine::wake() {
  waker_.wake();
}

std::vector<runtime::PendingInput> Engine::questions(RunId run) const {
  return runtime_->questions(run);
}

RunState Engine::state(RunId run) const {
  if (!runtime_->is_idle(run)) return RunState::Running;
  if (runtime_->end(run)) return RunState::Ended;
  if (!questions(run).empty()) return RunState::Asks;
  const runtime::Conversation* const conversation = runtime_->conversation(run);
  return conversation != nullptr && !conversation->is_in_turn() ? RunState::Ready : RunState::Running;
}

RunResult::How Engine::end_of(RunId run) const {
  using How = RunResult::How;
  const runtime::RunEnd& end = *runtime_->end(run);
  if (std::holds_alternative<vm::Value>(end)) return How::Returned;
  if (std::holds_alternative<runtime::RunFailed>(end)) return How::Failed;
  if (std::holds_alternative<runtime::RunCancelled>(end)) return How::Cancelled;
  return std::holds_alternative<runtime::RunDetached>(end) ? How::Detached : How::Damaged;
}

std::optional<RunResult> Engine::result(RunId run) const {
  const std::optional<runtime::RunEnd>& end = runtime_->end(run);
  if (!end) return std::nullopt;
  const vm::LoadedProgram& program = runtime_->program(run);
  if (const auto* value = std::get_if<vm::Value>(&*end)) return returned(*value, program);
  if (const auto* failure = std::get_if<runtime::RunFailed>(&*end)) return failed(*failure, program);
  if (const auto* cancelled = std::get_if<runtime::RunCancelled>(&*end)) {
    return RunResult{RunResult::How::Cancelled, {}, cancelled->reason};
  }
  if (const auto* detached = std::get_if<runtime::RunDetached>(&*end)) {
    return RunResult{RunResult::How::Detached, {}, detached->message};
  }
  return RunResult{RunResult::How::Damaged, {}, std::get<runtime::RunDamaged>(*end).message};
}

std::optional<RunResult> Engine::turn_result(RunId run) const {
  const std::optional<runtime::TurnOutcome>& outcome = runtime_->turn_outcome(run);
  if (!outcome) return std::nullopt;
  const vm::LoadedProgram& program = runtime_->program(run);
  if (const auto* value = std::get_if<vm::Value>(&*outcome)) return returned(*value, program);
  if (const auto* failure = std::get_if<runtime::RunFailed>(&*outcome)) return failed(*failure, program);
  return RunResult{RunResult::How::Cancelled, {}, std::get<runtime::RunCancelled>(*outcome).reason};
}

Result<void, EngineError> Engine::release(RunId run) {
  if (!runtime_->end(run) || !runtime_->is_idle(run)) {
    return failure(refusal(EngineError::Kind::Conflict, "the run has not ended"));
  }
  let_go_.erase(run);  // its place may get another run at once
  runtime_->release(run);
  return {};
}

void Engine::let_go(RunId run) {
  const RunState now = state(run);
  if (now == RunState::Ended || (now != RunState::Running && runtime_->is_stored(run))) {
    let_go_.erase(run);
    return runtime_->release(run);
  }
  if (now != RunState::Running) cancel(run, "no one can answer it any more");
  let_go_.insert(run);
}

std::optional<vm::Value> Engine::copy_value(RunId run) const {
  const std::optional<runtime::RunEnd>& end = runtime_->end(run);
  const auto* const returned_value = end ? std::get_if<vm::Value>(&*end) : nullptr;
  if (returned_value == nullptr || !runtime_->is_idle(run)) return std::nullopt;
  // A caller would read a part that occurs in several places again in each.
  if (vm::is_text_over(*returned_value, runtime_->program(run).types(), vm::text_bytes_max)) return std::nullopt;
  vm::Value value = *returned_value;
  if (!tools::isolate(value)) return std::nullopt;
  return value;
}

std::optional<vm::Value> Engine::take_value(RunId run) {
  std::optional<vm::Value> value = copy_value(run);
  if (value) static_cast<void>(release(run));
  return value;
}

const journal::RunName* Engine::name(RunId run) const {
  return runtime_->name(run);
}

void Engine::stop(std::chrono::milliseconds grace) {
  if (is_stopped_) return;
  // No one takes those that are to be made outside, and this is not to wait longer than it may.
  if (functions_ != nullptr) functions_->make_lone_calls(tools::ProvidedFunctions::LoneCalls::None);
  runtime_->drain(grace);
  if (inbox_) inbox_->end();
  is_stopped_ = true;
  can_continue_ = false;
  // Everything is durable, and nothing of the runtime uses the store any more.
  committer_.reset();
  options_.store.reset();
}

}  // namespace tenon::engine
