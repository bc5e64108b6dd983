#include "runtime/effects/generations.h"

#include <algorithm>

#include "base/ensure.h"
#include "runtime/events.h"
#include "runtime/prompts.h"

namespace tenon::runtime {

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
      return FailureKind::ContextFull;
    case ModelErrorKind::Unreachable:
    case ModelErrorKind::TimedOut:
    case ModelErrorKind::Rejected:
    case ModelErrorKind::Misconfigured:
    case ModelErrorKind::Overloaded:
    case ModelErrorKind::BadReply:
    case ModelErrorKind::ScriptEnded:
      return FailureKind::ModelUnavailable;
  }
  return FailureKind::ModelUnavailable;
}

/// Whether the same request may succeed later, by itself or because a person has mended the settings.
bool is_outage(ModelErrorKind kind) {
  switch (kind) {
    case ModelErrorKind::Unreachable:
    case ModelErrorKind::TimedOut:
    case ModelErrorKind::Overloaded:
    case ModelErrorKind::Misconfigured:
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
  cost.forced += usage.forced;
}

/// The usage of an earlier attempt, as the journal has it.
void add_attempt(vm::Usage& total, effects::Cost& cost, const effects::Cost& attempt) {
  total.model_calls += attempt.model_calls;
  total.tokens += attempt.tokens;
  total.cost_millionths += attempt.cost_millionths;
  total.milliseconds += attempt.milliseconds;
  cost.computed += attempt.computed;
  cost.reused += attempt.reused;
  cost.generated += attempt.generated;
  cost.forced += attempt.forced;
}

/// What the request gets for the values.
void set_values(inference::answers::AnswerValues values, vm::RequestKind kind, vm::Outcome& result) {
  switch (kind) {
    case vm::RequestKind::Complete:
      result.what = vm::ReturnedValue{std::move(values.values.at(0))};
      return;
    case vm::RequestKind::Fill:
      result.what = vm::FilledArguments{std::move(values.values)};
      return;
    case vm::RequestKind::Select:
      result.what = vm::SelectedClause{values.clause, std::move(values.values)};
      return;
    case vm::RequestKind::Extern:
      ENSURE(false);
  }
}

}  // namespace

Generations::Generations(RunTable& runs, Outcomes& outcomes, inference::Model& model, Clock& clock, Listener* listener)
    : runs_(runs),
      outcomes_(outcomes),
      model_(model),
      clock_(clock),
      listener_(listener),
      budget_ends_([this](std::uint64_t id) { return generations_.contains(id); }) {}

void Generations::start(RunId id, const OpenRequest& open) {
  const Run& run = runs_[id];
  const ProgramImage& image = *run.core->image();
  const vm::Request& request = open.request;
  const GenerationId generation_id = next_id_++;
  Generation& generation =
      generations_
          .try_emplace(generation_id, id, request,
                       RepairLoop(image.prompts(), image.reader(), completion_site(request, image.program()),
                                  prompt_of(image, run.options, request), run.options.repairs_max))
          .first->second;
  const bytecode::Site& site = image.program().sites[request.subject];
  if (request.kind == vm::RequestKind::Complete && site.guard != bytecode::no_function) {
    generation.guard = std::make_unique<StreamGuard>(image, request);
  }
  resume_dialogue(generation, open);
  if (const auto time_left = run.core->machine().time_left(request.id)) {
    generation.time_left = time_left;
    const std::uint64_t spent = std::min(generation.usage.milliseconds, *time_left);
    budget_ends_.add(generation_id, clock_.monotonic(), *time_left - spent);
  }
  send(generation_id);
}

/// The dialogue resumes after the recorded attempts.
void Generations::resume_dialogue(Generation& generation, const OpenRequest& open) {
  for (const effects::Attempted& attempt : open.attempts) {
    if (attempt.what == effects::Attempted::What::Transport) {
      const std::int64_t wait = std::max<std::int64_t>(attempt.next_at.value_or(0) - wall_ms(clock_), 0);
      generation.earlier = {generation.earlier.count + 1, std::chrono::milliseconds(wait), attempt.reason};
      continue;
    }
    if (attempt.answer.hash) return;  // the answer is lost, so the model is asked from there on
    Answer answer;
    answer.text = attempt.answer.text;
    static_cast<void>(generation.repair_loop.on_answer(answer));
    add_attempt(generation.usage, generation.cost, attempt.cost);
    generation.earlier = {};  // the next message was not sent then
  }
}

void Generations::send(GenerationId id) {
  Generation& generation = generations_.at(id);
  inference::GenerationRequest request = generation.repair_loop.request();
  request.earlier = std::exchange(generation.earlier, {});
  if (generation.guard) generation.guard->restart();
  if (listener_ != nullptr) {
    const RunCore& core = *runs_[generation.run].core;
    const bool is_plain_text = request.schema == nullptr && request.text_form == nullptr;
    listener_->on_generation_started(
        {PerformedEffect(generation.run, core, generation.request), generation.repair_loop.repairs(),
         is_plain_text && core.machine().is_streamed_output(generation.request.id), request, model_});
  }
  model_.start(id, std::move(request), *this);
}

bool Generations::is_in_progress(RunId run, vm::RequestId request) const {
  return std::ranges::any_of(
      generations_, [&](const auto& entry) { return entry.second.run == run && entry.second.request.id == request; });
}

void Generations::poll(std::chrono::milliseconds wait) {
  model_.poll(wait);
  stop_broken();
}

void Generations::on_text(GenerationId id, std::uint32_t attempt, std::string_view piece) {
  const auto found = generations_.find(id);
  if (found == generations_.end()) return;
  const Generation& generation = found->second;
  if (generation.guard && !generation.is_stopped && generation.guard->add(attempt, piece)) to_stop_.push_back(id);
  if (listener_ == nullptr) return;
  listener_->on_text(generation.run, generation.request.key, generation.repair_loop.repairs(), attempt, piece);
}

/// Ends the generations that can only become invalid. Not from within `on_text`, which the model calls.
void Generations::stop_broken() {
  for (const GenerationId id : std::exchange(to_stop_, {})) {
    const auto found = generations_.find(id);
    if (found == generations_.end() || found->second.is_stopped) continue;
    found->second.is_stopped = true;
    model_.cancel(id);
  }
}

/// The model sends again by itself, and does not wait for the disk: a crash in between costs one attempt more, not the
/// count. The next process continues from what was recorded.
void Generations::on_attempt_failed(GenerationId id, std::uint32_t /*failed*/, std::string_view reason,
                                    std::chrono::milliseconds wait) {
  const auto found = generations_.find(id);
  if (found == generations_.end()) return;  // cancelled
  const Generation& generation = found->second;
  OpenRequest* const open = runs_.find(generation.run, generation.request.key);
  if (open == nullptr) return;
  effects::Attempted attempted;
  attempted.what = effects::Attempted::What::Transport;
  const auto is_other = [](const effects::Attempted& earlier) {
    return earlier.what != effects::Attempted::What::Transport;
  };
  const auto others = std::find_if(open->attempts.rbegin(), open->attempts.rend(), is_other);
  attempted.attempt = static_cast<std::uint32_t>(others - open->attempts.rbegin());
  attempted.reason = reason;
  attempted.next_at = wall_ms(clock_) + wait.count();
  outcomes_.add_attempt(generation.run, *open, std::move(attempted));
}

void Generations::on_finished(GenerationId id, inference::GenerationOutcome outcome) {
  const auto found = generations_.find(id);
  if (found == generations_.end()) return;  // cancelled
  Generation& generation = found->second;
  const auto* const broken_off = std::get_if<ModelError>(&outcome);
  if (std::exchange(generation.is_stopped, false) && broken_off != nullptr &&
      broken_off->kind == ModelErrorKind::Cancelled) {
    const inference::Usage usage =
        estimate_usage(generation.repair_loop.request(), generation.guard->said(), broken_off->usage);
    outcome = Answer{generation.guard->answer(), inference::Finish::Complete, usage, std::string(model_.name())};
  }
  if (auto* const answer = std::get_if<Answer>(&outcome);
      answer != nullptr && answer->usage.prompt == 0 && answer->usage.generated == 0) {
    answer->usage = estimate_usage(generation.repair_loop.request(), answer->thoughts + answer->text, answer->usage);
  }
  notify_finished(generation, outcome);
  vm::Outcome result;
  if (const auto* const error = std::get_if<ModelError>(&outcome)) {
    if (!fail(generation, *error, result)) {
      generations_.erase(found);
      return;
    }
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
      set_values(std::move(std::get<inference::answers::AnswerValues>(step)), generation.request.kind, result);
    }
  }
  result.usage = generation.usage;
  Generation finished = std::move(generation);
  generations_.erase(found);
  outcomes_.enqueue(finished.run, std::move(finished.request.key), std::move(result), std::move(finished.cost));
}

/// False if the request is sent again later instead.
bool Generations::fail(Generation& generation, const ModelError& error, vm::Outcome& result) {
  const std::string model(model_.name());
  // The errors of a script are answers, too.
  const bool may_succeed = is_outage(error.kind) && !model_.follows_a_script();
  if (may_succeed &&
      outcomes_.await_service(generation.run, generation.request.key,
                              {.service = model,
                               .reason = error.message,
                               .retry_after_ms = error.retry_after.value_or(std::chrono::milliseconds(0)).count()})) {
    return false;
  }
  add_usage(generation.usage, generation.cost, error.usage);
  result.what = vm::EffectFailure{failure_kind(error.kind), error.message, model};
  return true;
}

void Generations::record_unusable(const Generation& generation, std::uint32_t attempt, const Answer& answer) {
  const std::string& key = generation.request.key;
  OpenRequest* const open = runs_.find(generation.run, key);
  if (open == nullptr) return;  // its branch has been cancelled
  effects::Attempted attempted;
  attempted.what = effects::Attempted::What::Unusable;
  attempted.attempt = attempt;
  attempted.answer = runs_[generation.run].journal.keep(answer.text);
  vm::Usage usage;
  add_usage(usage, attempted.cost, answer.usage);
  attempted.cost.model_calls = usage.model_calls;
  attempted.cost.tokens = usage.tokens;
  attempted.cost.milliseconds = usage.milliseconds;
  outcomes_.add_attempt(generation.run, *open, std::move(attempted));
  open->attempts.back().answer = {answer.text, std::nullopt};  // it is needed at once
  outcomes_.perform_again(generation.run, key);
}

void Generations::end_late() {
  for (const GenerationId id : budget_ends_.take_due(clock_.monotonic())) end(id);
}

std::optional<std::chrono::milliseconds> Generations::time_to_late() {
  return budget_ends_.time_to_next(clock_.monotonic());
}

/// A budget of time is spent before the model has answered.
void Generations::end(GenerationId id) {
  const auto found = generations_.find(id);
  if (found == generations_.end()) return;
  Generation generation = std::move(found->second);
  generations_.erase(found);
  model_.cancel(id);
  ModelError late{ModelErrorKind::TimedOut, "no answer within the budget of time", {}};
  late.usage.milliseconds = static_cast<double>(*generation.time_left + 1);
  add_usage(generation.usage, generation.cost, late.usage);
  // More than the budget has left, also where the clocks differ.
  generation.usage.milliseconds = *generation.time_left + 1;
  vm::Outcome result;
  result.what = vm::EffectFailure{FailureKind::TimedOut, late.message, std::string(model_.name())};
  result.usage = generation.usage;
  notify_finished(generation, std::move(late));
  outcomes_.enqueue(generation.run, std::move(generation.request.key), std::move(result), std::move(generation.cost));
}

void Generations::notify_finished(const Generation& generation, const inference::GenerationOutcome& outcome) const {
  if (listener_ == nullptr) return;
  listener_->on_generation_finished(generation.run, generation.request.key, generation.repair_loop.repairs(), outcome);
}

void Generations::cancel(RunId run, vm::RequestId request) {
  const auto found = std::ranges::find_if(
      generations_, [&](const auto& entry) { return entry.second.run == run && entry.second.request.id == request; });
  if (found == generations_.end()) return;
  const GenerationId id = found->first;
  generations_.erase(found);
  model_.cancel(id);
}

void Generations::cancel(RunId run) {
  std::vector<GenerationId> ids;
  for (const auto& [id, generation] : generations_) {
    if (generation.run == run) ids.push_back(id);
  }
  for (const GenerationId id : ids) {
    generations_.erase(id);
    model_.cancel(id);
  }
}

void Generations::cancel_all() {
  const auto generations = std::exchange(generations_, {});
  for (const auto& [id, generation] : generations) model_.cancel(id);
}

}  // namespace tenon::runtime
