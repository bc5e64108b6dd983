// Performing effects: models, externs, people, timers; and their outcomes.

#include <fmt/format.h>

#include <algorithm>

#include "base/ensure.h"
#include "inference/answers/mismatch.h"
#include "runtime/agent_records.h"
#include "runtime/prompts.h"
#include "runtime/runtime.h"
#include "vm/context.h"

namespace tenon::runtime {

using effects::EffectKind;
using inference::Answer;
using inference::GenerationId;
using inference::ModelError;
using inference::ModelErrorKind;
using inference::prompting::RepairLoop;
using types::FailureKind;

namespace {

FailureKind failure_kind(ModelErrorKind kind) {
  switch (kind) {
    case ModelErrorKind::Cancelled:
      return FailureKind::Cancelled;
    case ModelErrorKind::ContextFull:
    case ModelErrorKind::Unreachable:
    case ModelErrorKind::TimedOut:
    case ModelErrorKind::Rejected:
    case ModelErrorKind::Overloaded:
    case ModelErrorKind::BadReply:
    case ModelErrorKind::ScriptEnded:
      return FailureKind::ModelUnavailable;
  }
  return FailureKind::ModelUnavailable;
}

/// Whether the same request may come through later.
bool is_outage(ModelErrorKind kind) {
  switch (kind) {
    case ModelErrorKind::Unreachable:
    case ModelErrorKind::TimedOut:
    case ModelErrorKind::Overloaded:
      return true;
    case ModelErrorKind::Cancelled:
    case ModelErrorKind::ContextFull:
    case ModelErrorKind::Rejected:
    case ModelErrorKind::BadReply:
    case ModelErrorKind::ScriptEnded:
      return false;
  }
  return false;
}

void add_usage(vm::Usage& total, effects::Cost& cost, const inference::Usage& usage) {
  ++total.model_calls;
  total.tokens += usage.prompt + usage.generated;
  total.milliseconds += static_cast<std::uint64_t>(usage.milliseconds);
  cost.computed += usage.computed;
  cost.reused += usage.reused;
  cost.generated += usage.generated;
}

/// What an earlier attempt took, as the journal says.
void add_attempt(vm::Usage& total, effects::Cost& cost, const effects::Cost& attempt) {
  total.model_calls += attempt.model_calls;
  total.tokens += attempt.tokens;
  total.cost_millionths += attempt.cost_millionths;
  total.milliseconds += attempt.milliseconds;
  cost.computed += attempt.computed;
  cost.reused += attempt.reused;
  cost.generated += attempt.generated;
}

/// For listeners.
PerformedEffect performed(RunId id, const RunCore& core, const vm::Request& request) {
  const bytecode::Program& program = core.image()->program();
  PerformedEffect effect{.run = id, .key = request.key, .program = *core.image()->loaded()};
  effect.calls = core.machine().call_stack(request.id);
  if (request.kind != vm::RequestKind::Extern) {
    effect.place = program.sites[request.subject].place;
  } else if (!effect.calls.entries.empty()) {
    effect.place = effect.calls.entries.front().place;
  }
  if (request.agent != UINT32_MAX) effect.agent = program.agents[request.agent].name;
  effect.depth = request.depth;
  effect.label = core.machine().labels().describe(request.label);
  return effect;
}

void set_usage(effects::Cost& cost, const vm::Usage& usage) {
  cost.model_calls = usage.model_calls;
  cost.tokens = usage.tokens;
  cost.cost_millionths = usage.cost_millionths;
  cost.milliseconds = usage.milliseconds;
}

}  // namespace

void Runtime::enqueue_outcome(RunId id, std::string key, vm::Outcome outcome, effects::Cost cost) {
  Run& run = runs_[id.index];
  if (run.end) return;
  const OpenRequest* const open = run.core->find(key);
  if (open == nullptr) return;  // its branch has been cancelled
  if (run.image->has_secrets()) seal_outcome(run, key, open->request, outcome);
  effects::OutcomeForm form;
  if (run.journal.takes_records()) {
    const bytecode::Program& program = run.core->image()->program();
    auto written = effects::write_outcome(outcome, open->request, program);
    if (!written && run.journal.is_stored()) {
      // What cannot be recorded cannot have happened.
      outcome.what = vm::EffectFailure{
          FailureKind::Conversion,
          fmt::format("the result of `{}` cannot be recorded: {}", open->described.subject, written.error().message),
          open->described.subject};
      written = effects::write_outcome(outcome, open->request, program);
      ENSURE(written.has_value());
    }
    if (written) form = std::move(*written);
  }
  set_usage(cost, outcome.usage);
  run.pending_outcomes.push_back({std::move(key), std::move(outcome), std::move(cost), std::move(form)});
  enqueue(id);
}

void Runtime::fire_timers() {
  while (!timers_.empty() && timers_.begin()->first <= now_ms()) {
    const std::int64_t time = timers_.begin()->first;
    const Timer timer = std::move(timers_.begin()->second);
    timers_.erase(timers_.begin());
    if (!is_waited_for(time, timer)) continue;
    const OpenRequest& open = *runs_[timer.run.index].core->find(timer.key);
    const EffectKind kind = open.described.kind;
    if (open.outage && open.outage->is_waiting) {
      if (phase_ == Phase::Running) retry(timer.run, timer.key);
    } else if (kind == EffectKind::Sleep) {
      enqueue_outcome(timer.run, timer.key, {vm::ReturnedValue{vm::Value::unit()}, {}}, {});
    } else if (kind == EffectKind::Extern) {
      time_out(timer.run, timer.key);
    } else {
      end_wait(timer.run, timer.key);
    }
  }
  for (const std::uint64_t effect : budget_ends_.take_due(dependencies_.clock.monotonic())) {
    if (generations_.contains(effect)) end_generation(effect);
    if (calls_.contains(effect)) end_call(effect);
  }
}

/// The time for an answer is over.
void Runtime::end_wait(RunId id, const std::string& key) {
  vm::EffectFailure late{FailureKind::TimedOut, "no one answered in time", "ask_within"};
  enqueue_outcome(id, key, {std::move(late), {}}, {});
}

/// A timer is stale once its call has paused, was answered or was cancelled.
bool Runtime::is_waited_for(std::int64_t time, const Timer& timer) const {
  const Run& run = runs_[timer.run.index];
  const OpenRequest* const open = run.end ? nullptr : run.core->find(timer.key);
  return open != nullptr && open->wake_at == time;
}

/// Drops timers whose request was cancelled or answered.
std::optional<std::chrono::milliseconds> Runtime::time_to_timer() {
  while (!timers_.empty() && !is_waited_for(timers_.begin()->first, timers_.begin()->second)) {
    timers_.erase(timers_.begin());
  }
  if (timers_.empty()) return std::nullopt;
  return std::chrono::milliseconds(std::max<std::int64_t>(timers_.begin()->first - now_ms(), 0));
}

/// Of what happens without anybody being asked. Nothing leaves with it, so it does no harm to do it again.
vm::Outcome Runtime::instant_outcome(EffectKind kind) const {
  if (kind == EffectKind::Now) return {vm::ReturnedValue{vm::Value::integer(now_ms())}, {}};
  if (kind != EffectKind::Random) return {vm::ReturnedValue{vm::Value::unit()}, {}};
  if (dependencies_.random_unit) return {vm::ReturnedValue{vm::Value::floating(dependencies_.random_unit())}, {}};
  return {vm::EffectFailure{FailureKind::ToolFailed, "there is no source of random numbers", "random"}, {}};
}

void Runtime::perform(RunId id, const std::string& key) {
  Run& run = runs_[id.index];
  const OpenRequest* const open = run.end ? nullptr : run.core->find(key);
  if (open == nullptr) return;  // cancelled in the meantime
  if (open->outage && open->outage->is_waiting) {
    if (open->wake_at) timers_.emplace(*open->wake_at, Timer{id, key});
    return;
  }
  switch (open->described.kind) {
    case EffectKind::Complete:
    case EffectKind::Fill:
    case EffectKind::Select:
      return perform_generation(id, *open);
    case EffectKind::Extern:
      if (open->question) {  // a person is asked first
        if (!run.journal.is_stored()) ask_person(id, key);
        return;
      }
      if (open->wake_at) {
        if (*open->wake_at <= now_ms()) return time_out(id, key);  // while no process ran
        timers_.emplace(*open->wake_at, Timer{id, key});
      }
      return perform_extern(id, *open);
    case EffectKind::Ask:
      if (open->wake_at) timers_.emplace(*open->wake_at, Timer{id, key});
      if (!run.journal.is_stored()) ask_person(id, key);
      return;
    case EffectKind::Sleep:
      timers_.emplace(*open->wake_at, Timer{id, key});
      return;
    case EffectKind::Now:
    case EffectKind::Random:
    case EffectKind::AgentCalled:
    case EffectKind::AgentReturned:
    case EffectKind::HandedOff:
    case EffectKind::AnswerRefused:
    case EffectKind::BlockEntered:
    case EffectKind::BlockLeft:
    case EffectKind::Emitted:
      return enqueue_outcome(id, key, instant_outcome(open->described.kind), {});
  }
}

/// Without a store the question has to be answered now.
void Runtime::ask_person(RunId id, const std::string& key) {
  std::string complaint;
  for (;;) {
    const Run& run = runs_[id.index];
    const PendingInput question = question_of(run, key, *run.core->find(key));
    const auto input =
        dependencies_.prompter != nullptr ? dependencies_.prompter->ask(question, complaint) : std::nullopt;
    if (!input) {
      vm::EffectFailure nobody{FailureKind::ToolFailed,
                               "no one can answer here; with `--store FILE` the run waits for `tenon resume`", "ask"};
      return enqueue_outcome(id, key, {std::move(nobody), {}}, {});
    }
    auto answered = answer(id, key, *input);
    if (answered || answered.error().is_over()) return;
    complaint = std::move(answered.error().message);
  }
}

void Runtime::perform_extern(RunId run, const OpenRequest& open) {
  const vm::Request& request = open.request;
  // Before the call, so that it is not made when its secrets cannot be opened or kept.
  std::vector<std::string> secrets;
  auto arguments = open_arguments(runs_[run.index], request, secrets);
  if (!arguments) return detach_run(run, std::move(arguments.error().message));
  const std::uint64_t id = next_effect_++;
  if (dependencies_.listener != nullptr) {
    dependencies_.listener->on_extern_called(
        {performed(run, *runs_[run.index].core, request), request.subject, request.arguments});
  }
  const Run& owner = runs_[run.index];
  const auto [call, added] =
      calls_.emplace(id, ExternCall{run, request, dependencies_.clock.monotonic(), std::move(secrets)});
  const auto& externs = owner.core->image()->externs();
  if (dependencies_.extern_caller == nullptr) {
    return on_returned(id, failure(tools::ExternError{FailureKind::ToolFailed, "no library defines it", ""}));
  }
  const vm::Request& kept = call->second.request;
  // Handing a call to another thread costs more than most functions take. It is worth it when something else could
  // continue meanwhile, and needed when the call may have to be abandoned.
  const auto time_left = owner.core->machine().time_left(request.id);
  call->second.time_left = time_left;
  if (time_left) budget_ends_.add(id, dependencies_.clock.monotonic(), *time_left);
  const bool is_alone = runs_.size() == 1 && runs_[run.index].core->open().size() == 1 && generations_.empty() &&
                        !open.wake_at && !time_left;
  const auto placement = is_alone ? options_.lone_call : tools::Placement::Pool;
  // Without a record a call cannot be told from that of another run, and a service must not confuse them.
  std::string key = owner.journal.is_stored() ? owner.journal.name().text + "/" + kept.key : std::string();
  // A call with an answer is another effect than the one that asked.
  if (open.pauses > 0 && !key.empty()) key += fmt::format("#{}", open.pauses);
  std::optional<std::string> input;
  if (open.input) input = open.input->text;
  auto outcome = dependencies_.extern_caller->start(
      id, {externs, kept.subject, std::move(*arguments), std::move(key), std::move(input)}, placement, *this);
  if (outcome) on_returned(id, std::move(*outcome));
}

void Runtime::perform_generation(RunId run, const OpenRequest& open) {
  const Run& owner = runs_[run.index];
  const inference::prompting::SitePrompts& prompts = owner.core->image()->prompts();
  const vm::Request& request = open.request;
  inference::GenerationRequest prompt = prompt_of(*owner.core->image(), owner.options, request);
  const GenerationId id = next_effect_++;
  Generation& generation =
      generations_
          .emplace(id, Generation{run,
                                  request,
                                  request.key,
                                  RepairLoop(prompts, owner.core->image()->reader(),
                                             completion_site(request, owner.core->image()->program()),
                                             std::move(prompt), owner.options.repairs_max),
                                  {},
                                  {}})
          .first->second;
  const bytecode::Site& site = owner.core->image()->program().sites[request.subject];
  if (request.kind == vm::RequestKind::Complete && site.guard != bytecode::no_function) {
    generation.guard = std::make_unique<StreamGuard>(*owner.core->image(), request);
  }
  // The dialogue resumes after the recorded attempts.
  for (const effects::Attempted& attempt : open.attempts) {
    if (attempt.what == effects::Attempted::What::Transport) {
      const std::int64_t wait = std::max<std::int64_t>(attempt.next_at.value_or(0) - now_ms(), 0);
      generation.earlier = {generation.earlier.count + 1, std::chrono::milliseconds(wait), attempt.reason};
      continue;
    }
    Answer answer;
    if (attempt.answer.hash) break;  // what was said is lost, so the model is asked from there on
    answer.text = attempt.answer.text;
    static_cast<void>(generation.repair_loop.on_answer(answer));
    add_attempt(generation.usage, generation.cost, attempt.cost);
    generation.earlier = {};  // the next message was not sent then
  }
  if (const auto time_left = owner.core->machine().time_left(request.id)) {
    generation.time_left = time_left;
    const std::uint64_t spent = std::min(generation.usage.milliseconds, *time_left);
    budget_ends_.add(id, dependencies_.clock.monotonic(), *time_left - spent);
  }
  ask_model(id);
}

void Runtime::ask_model(GenerationId id) {
  Generation& generation = generations_.at(id);
  inference::GenerationRequest request = generation.repair_loop.request();
  request.earlier = std::exchange(generation.earlier, {});
  if (generation.guard) generation.guard->restart();
  if (dependencies_.listener != nullptr) {
    inference::GenerationRequest sent = request;
    dependencies_.model.convert_to_sent(sent);
    const RunCore& core = *runs_[generation.run.index].core;
    const bool is_plain_text = sent.schema == nullptr && sent.text_form == nullptr;
    dependencies_.listener->on_generation_started(
        {performed(generation.run, core, generation.request), generation.repair_loop.repairs(), sent,
         is_plain_text && core.machine().is_streamed_output(generation.request.id)});
  }
  dependencies_.model.start(id, std::move(request), *this);
}

void Runtime::on_text(GenerationId id, std::uint32_t attempt, std::string_view piece) {
  const auto found = generations_.find(id);
  if (found == generations_.end()) return;
  const Generation& generation = found->second;
  if (generation.guard && !generation.is_stopped && generation.guard->add(attempt, piece)) to_stop_.push_back(id);
  if (dependencies_.listener == nullptr) return;
  dependencies_.listener->on_text(generation.run, generation.key, generation.repair_loop.repairs(), attempt, piece);
}

/// Ends the generations of which nothing good can come any more. Not from within `on_text`, which the model calls.
void Runtime::stop_broken() {
  for (const GenerationId id : std::exchange(to_stop_, {})) {
    const auto found = generations_.find(id);
    if (found == generations_.end() || found->second.is_stopped) continue;
    found->second.is_stopped = true;
    dependencies_.model.cancel(id);
  }
}

void Runtime::on_finished(GenerationId id, inference::GenerationOutcome outcome) {
  const auto found = generations_.find(id);
  if (found == generations_.end()) return;  // cancelled
  Generation& generation = found->second;
  const auto* const broken_off = std::get_if<ModelError>(&outcome);
  if (std::exchange(generation.is_stopped, false) && broken_off != nullptr &&
      broken_off->kind == inference::ModelErrorKind::Cancelled) {
    const inference::Usage usage =
        estimate_usage(generation.repair_loop.request(), generation.guard->said(), broken_off->usage);
    outcome =
        Answer{generation.guard->answer(), inference::Finish::Complete, usage, std::string(dependencies_.model.name())};
  }
  if (dependencies_.listener != nullptr) {
    dependencies_.listener->on_generation_finished(generation.run, generation.key, generation.repair_loop.repairs(),
                                                   outcome);
  }
  vm::Outcome result;
  if (const auto* error = std::get_if<ModelError>(&outcome)) {
    // What a script says is the model's answer, be it an error.
    const bool may_come_through = is_outage(error->kind) && !dependencies_.model.follows_a_script();
    if (may_come_through &&
        await_service(generation.run, generation.key,
                      {.service = std::string(dependencies_.model.name()), .reason = error->message})) {
      generations_.erase(found);
      return;
    }
    add_usage(generation.usage, generation.cost, error->usage);
    result.what = vm::EffectFailure{failure_kind(error->kind), error->message, std::string(dependencies_.model.name())};
  } else {
    const Answer& answer = std::get<Answer>(outcome);
    add_usage(generation.usage, generation.cost, answer.usage);
    generation.cost.model = answer.model;
    const std::uint32_t attempt = generation.repair_loop.repairs();
    RepairLoop::Step step = generation.repair_loop.on_answer(answer);
    if (std::holds_alternative<RepairLoop::AskAgain>(step)) {
      record_unusable(generation, attempt, answer);
      generations_.erase(found);
      return;
    }
    if (const auto* failure = std::get_if<inference::prompting::AnswerFailure>(&step)) {
      result.what = vm::EffectFailure{failure->kind, failure->message, answer.model};
    } else {
      auto& values = std::get<inference::answers::AnswerValues>(step);
      switch (generation.request.kind) {
        case vm::RequestKind::Complete:
          result.what = vm::ReturnedValue{std::move(values.values.at(0))};
          break;
        case vm::RequestKind::Fill:
          result.what = vm::FilledArguments{std::move(values.values)};
          break;
        case vm::RequestKind::Select:
          result.what = vm::SelectedClause{values.clause, std::move(values.values)};
          break;
        case vm::RequestKind::Extern:
          ENSURE(false);
      }
    }
  }
  result.usage = generation.usage;
  const RunId run = generation.run;
  std::string key = std::move(generation.key);
  effects::Cost cost = std::move(generation.cost);
  generations_.erase(found);
  enqueue_outcome(run, std::move(key), std::move(result), std::move(cost));
}

/// A budget of time is spent before the model has answered.
void Runtime::end_generation(GenerationId id) {
  const auto found = generations_.find(id);
  Generation generation = std::move(found->second);
  generations_.erase(found);
  dependencies_.model.cancel(id);
  ModelError late{ModelErrorKind::TimedOut, "no answer within the budget of time", {}};
  late.usage.milliseconds = static_cast<double>(*generation.time_left + 1);
  add_usage(generation.usage, generation.cost, late.usage);
  // More than the budget has left, also where the clocks differ.
  generation.usage.milliseconds = *generation.time_left + 1;
  vm::Outcome result;
  result.what = vm::EffectFailure{FailureKind::TimedOut, late.message, std::string(dependencies_.model.name())};
  result.usage = generation.usage;
  if (dependencies_.listener != nullptr) {
    dependencies_.listener->on_generation_finished(generation.run, generation.key, generation.repair_loop.repairs(),
                                                   std::move(late));
  }
  enqueue_outcome(generation.run, std::move(generation.key), std::move(result), std::move(generation.cost));
}

/// An unusable answer is durable before the model is asked to repair it, so that a crash neither allows more attempts
/// nor changes what the model is sent.
void Runtime::record_unusable(const Generation& generation, std::uint32_t attempt, const Answer& answer) {
  Run& run = runs_[generation.run.index];
  OpenRequest* const open = run.core->find(generation.key);
  if (open == nullptr) return;  // its branch has been cancelled
  effects::Attempted attempted;
  attempted.what = effects::Attempted::What::Unusable;
  attempted.attempt = attempt;
  attempted.answer = run.journal.keep(answer.text);
  vm::Usage usage;
  add_usage(usage, attempted.cost, answer.usage);
  set_usage(attempted.cost, usage);
  record_attempt(generation.run, *open, std::move(attempted));
  open->attempts.back().answer = {answer.text, std::nullopt};  // it is needed at once
  run.to_perform.push_back(generation.key);
}

void Runtime::on_returned(tools::CallId id, tools::ExternOutcome outcome) {
  const auto found = calls_.find(id);
  if (found == calls_.end()) return;  // cancelled
  ExternCall call = std::move(found->second);
  calls_.erase(found);
  conclude(std::move(call), std::move(outcome));
}

void Runtime::conclude(ExternCall call, tools::ExternOutcome outcome, std::uint64_t milliseconds_min) {
  hide_secrets(call, outcome);
  if (dependencies_.listener != nullptr) {
    const vm::Value none;
    dependencies_.listener->on_extern_returned(
        {call.run, call.request.key, *runs_[call.run.index].core->image()->loaded(), call.request.subject,
         outcome ? *outcome : none, outcome ? std::string_view() : std::string_view(outcome.error().message)});
  }
  if (!outcome && outcome.error().is_unavailable) {
    const std::string& tool = runs_[call.run.index].core->image()->program().externs[call.request.subject].name;
    if (await_service(call.run, call.request.key,
                      {.service = tool, .is_tool = true, .reason = outcome.error().message})) {
      return;
    }
  }
  if (!outcome && outcome.error().question) return pause(call.run, call.request.key, *outcome.error().question);
  vm::Outcome result;
  const ProgramImage& image = *runs_[call.run.index].core->image();
  const std::string& name = image.program().externs[call.request.subject].name;
  if (!outcome && outcome.error().prompt) {
    result = prompt_outcome(image, *outcome.error().prompt, name);
  } else if (outcome) {
    result.what = vm::ReturnedValue{std::move(*outcome)};
  } else {
    const std::string_view verb = outcome.error().kind == FailureKind::TimedOut ? "has given nothing" : "failed:";
    result.what =
        vm::EffectFailure{outcome.error().kind, fmt::format("`{}` {} {}", name, verb, outcome.error().message), name};
  }
  const auto elapsed = dependencies_.clock.monotonic() - call.started;
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(elapsed).count();
  result.usage.milliseconds = std::max(static_cast<std::uint64_t>(milliseconds), milliseconds_min);
  enqueue_outcome(call.run, call.request.key, std::move(result), {});
}

/// An extern asks a person. It is called again when there is an answer.
void Runtime::pause(RunId id, const std::string& key, std::string question) {
  Run& run = runs_[id.index];
  OpenRequest* const open = run.end ? nullptr : run.core->find(key);
  if (open == nullptr) return;
  open->question = std::move(question);
  open->wake_at.reset();
  open->end_outage();
  record_pause(id, *open, effects::Paused::Why::Asks);
  if (!run.journal.is_stored()) run.to_perform.push_back(key);  // the person is asked at once
  enqueue(id);
}

void Runtime::cancel_request(RunId run, vm::RequestId request) {
  for (auto at = generations_.begin(); at != generations_.end(); ++at) {
    if (at->second.run != run || at->second.request.id != request) continue;
    const GenerationId id = at->first;
    generations_.erase(at);
    dependencies_.model.cancel(id);
    return;
  }
  for (auto at = calls_.begin(); at != calls_.end(); ++at) {
    if (at->second.run != run || at->second.request.id != request) continue;
    const tools::CallId id = at->first;
    calls_.erase(at);
    dependencies_.extern_caller->cancel(id);
    return;
  }
}

void Runtime::cancel_effects(RunId run) {
  std::vector<vm::RequestId> requests;
  for (const auto& [id, generation] : generations_) {
    if (generation.run == run) requests.push_back(generation.request.id);
  }
  for (const auto& [id, call] : calls_) {
    if (call.run == run) requests.push_back(call.request.id);
  }
  for (const vm::RequestId request : requests) cancel_request(run, request);
}

void Runtime::cancel_all() {
  const auto generations = std::exchange(generations_, {});
  for (const auto& [id, generation] : generations) dependencies_.model.cancel(id);
  const auto calls = std::exchange(calls_, {});
  for (const auto& [id, call] : calls) dependencies_.extern_caller->cancel(id);
  for (const RunId run : std::exchange(ready_, {})) runs_[run.index].is_queued = false;
}

}  // namespace tenon::runtime
