#include "runtime/waits/questions.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/ensure.h"
#include "effects/wait_name.h"
#include "inference/answers/mismatch.h"
#include "inference/answers/person_answer.h"
#include "runtime/waits/resolution.h"
#include "types/table/type_parts.h"

namespace tenon::runtime {

using effects::EffectKind;
using types::FailureKind;

/// The request that asks the question; null if it is not open.
OpenRequest* Questions::find(RunId id, std::string_view wait) const {
  OpenRequest* const open = runs_.find(id, std::string(effects::key_of_wait(wait)));
  return open != nullptr && name_of_question(*open) == wait ? open : nullptr;
}

bool Questions::takes_raw_answer(RunId id, std::string_view wait) const {
  const OpenRequest* const open = find(id, wait);
  if (open == nullptr || open->is_in_doubt) return false;
  if (open->question) return true;
  const ProgramImage& image = *runs_[id].core->image();
  return open->described.kind == EffectKind::Ask &&
         image.reader().is_written_raw(image.program().externs[open->request.subject].result);
}

Result<void, AnswerRefusal> Questions::answer(RunId id, std::string_view wait, std::string_view input,
                                              std::vector<journal::Note> notes) {
  Run& run = runs_[id];
  OpenRequest* const open = find(id, wait);
  if (open != nullptr && open->is_in_doubt) return take_resolution(id, *open, input, std::move(notes));
  if (open != nullptr && open->question) return answer_extern(id, *open, input, std::move(notes));
  const bool is_answered = std::any_of(run.pending_outcomes.begin(), run.pending_outcomes.end(),
                                       [&](const PendingOutcome& arrived) { return arrived.key == wait; });
  const bool is_asked = open != nullptr && open->described.kind == EffectKind::Ask && !is_answered;
  if (!is_asked) {
    return failure(AnswerRefusal{AnswerRefusal::Kind::NoSuchWait, fmt::format("nothing waits under `{}`", wait)});
  }
  const Moment now = recorder_.moment();
  if (open->wake_at && open->due_at(now) <= now.monotonic) {
    Recorder::reach(runs_[id], *open->wake_at);
    time_out(id, open->request.key);
    return failure(AnswerRefusal{AnswerRefusal::Kind::TooLate, "the answer comes too late: the time for it is over"});
  }
  const ProgramImage& image = *run.core->image();
  const types::TypeId type = image.program().externs[open->request.subject].result;
  const bool is_approval = vm::asks_approval(open->request, image.program());
  auto value = is_approval
                   ? inference::answers::read_approval(image.reader(), image.program().types.get(type).arguments[0],
                                                       open->request.arguments[0], input)
                   : inference::answers::read_person_answer(image.reader(), type, input);
  if (!value) {
    return failure(
        AnswerRefusal{AnswerRefusal::Kind::WrongAnswer, inference::answers::describe_all(value.error(), "the answer")});
  }
  if (types::holds_secret(image.program().types, type)) {
    if (const auto key = secrets_.prepare(image); !key) {
      return failure(AnswerRefusal{AnswerRefusal::Kind::NoKey, "a secret cannot be taken: " + key.error().message});
    }
  }
  outcomes_.enqueue(id, std::string(wait), {vm::ReturnedValue{std::move(*value)}, {}});
  run.pending_outcomes.back().notes = std::move(notes);
  return {};
}

/// It is called again, once the answer is recorded.
Result<void, AnswerRefusal> Questions::answer_extern(RunId id, OpenRequest& open, std::string_view input,
                                                     std::vector<journal::Note> notes) {
  Run& run = runs_[id];
  const Moment now = recorder_.moment(run);
  open.begin_wait(call_deadline(open, run.core->image()->program(), now.wall_ms), now);
  recorder_.add_answer(run, open, input, std::move(notes));
  open.input = {std::string(input), std::nullopt};
  open.question.reset();
  ++open.pauses;
  outcomes_.perform_again(id, open.request.key);
  return {};
}

void Questions::ask_interactively(RunId id, const std::string& key) {
  if (answers_come_later_) return;
  std::string complaint;
  for (;;) {
    const PendingInput question = question_of(runs_[id], *runs_.find(id, key));
    const auto input = prompter_ != nullptr ? prompter_->ask(question, complaint) : std::nullopt;
    if (!input) {
      vm::EffectFailure unanswered{
          FailureKind::ToolFailed,
          "cannot ask a person: stdin is closed; use `--store FILE` to wait for `tenon resume`", "ask"};
      return outcomes_.enqueue(id, key, {std::move(unanswered), {}});
    }
    auto answered = answer(id, question.wait, *input, {});
    if (answered || answered.error().is_over()) return;
    complaint = std::move(answered.error().message);
  }
}

void Questions::pause(RunId id, const std::string& key, std::string question) {
  OpenRequest* const open = runs_.find(id, key);
  if (open == nullptr) return;
  Run& run = runs_[id];
  open->question = std::move(question);
  open->set_wake(std::nullopt);
  open->end_outage();
  recorder_.add_pause(run, *open, effects::Paused::Why::Asks);
  runs_.enqueue(id);
  if (!run.journal.is_stored()) outcomes_.perform_again(id, key);  // the person is asked at once
}

void Questions::settle_cut_off(RunId id, const std::string& key) {
  if (runs_[id].journal.is_stored()) return ask_resolution(id, key);
  const std::string& name = runs_.find(id, key)->described.subject;
  vm::EffectFailure interrupted{FailureKind::Cancelled,
                                fmt::format("`{}` was interrupted, and it is called at most once", name), name};
  outcomes_.enqueue(id, key, {std::move(interrupted), {}});
}

void Questions::ask_resolution(RunId id, const std::string& key) {
  Run& run = runs_[id];
  OpenRequest& open = *runs_.find(id, key);
  open.question = resolution_question(open, run.core->image()->program());
  open.is_in_doubt = true;
  open.set_wake(std::nullopt);
  open.end_outage();
  recorder_.add_pause(run, open, effects::Paused::Why::CutOff,
                      run.journal.keep(resolution_schema(run.core->image()->program(), open.request.subject)));
}

void Questions::time_out(RunId id, const std::string& key) {
  vm::EffectFailure late{FailureKind::TimedOut, std::string(types::unanswered_message), "ask_within"};
  outcomes_.enqueue(id, key, {std::move(late), {}});
}

bool Questions::are_open() const {
  return std::ranges::any_of(runs_.all(), [](const Run& run) {
    if (run.end || !run.core) return false;
    return std::ranges::any_of(run.core->open(), [](const auto& entry) { return asks_person(entry.second); });
  });
}

Result<void, AnswerRefusal> Questions::take_resolution(RunId id, OpenRequest& open, std::string_view input,
                                                       std::vector<journal::Note> notes) {
  Run& run = runs_[id];
  const ProgramImage& image = *run.core->image();
  const std::uint32_t subject = open.request.subject;
  auto resolution = read_resolution(image.reader(), image.program(), subject, input);
  const bool may_be_secret = types::holds_secret(image.program().types, image.program().externs[subject].result);
  if (!resolution) {
    // A mistyped answer may nearly be the secret.
    std::string message = may_be_secret ? "the answer: expected one of " + resolution_type(image.program(), subject)
                                        : std::move(resolution.error());
    return failure(AnswerRefusal{AnswerRefusal::Kind::WrongAnswer, std::move(message)});
  }
  const bool is_secret = may_be_secret && std::holds_alternative<vm::Value>(*resolution);
  if (is_secret) {
    if (const auto sealing = secrets_.prepare(image); !sealing) {
      return failure(AnswerRefusal{AnswerRefusal::Kind::NoKey, "a secret cannot be taken: " + sealing.error().message});
    }
  }
  open.question.reset();
  open.is_in_doubt = false;
  const std::string key = open.request.key;
  if (std::holds_alternative<CallAgain>(*resolution) && !open.is_outlived) {
    // From now on the call may have been made once more: if this process ends too, the person is asked again.
    const Moment now = recorder_.moment(run);
    open.begin_wait(call_deadline(open, image.program(), now.wall_ms), now);
    recorder_.add_answer(run, open, input, std::move(notes));
    outcomes_.perform_again(id, key);
    return {};
  }
  vm::Outcome outcome;
  if (auto* const value = std::get_if<vm::Value>(&*resolution)) {
    outcome.what = vm::ReturnedValue{std::move(*value)};
  } else if (std::holds_alternative<CallAgain>(*resolution)) {
    outcome = unmade_call(open);  // what it would return is not wanted any more
  } else {
    const std::string& name = image.program().externs[subject].name;
    outcome.what = vm::EffectFailure{
        FailureKind::ToolFailed, fmt::format("`{}` failed: {}", name, std::get<CallFailed>(*resolution).message), name};
  }
  outcomes_.enqueue(id, key, std::move(outcome));
  ENSURE(!run.pending_outcomes.empty() && run.pending_outcomes.back().key == key);
  run.pending_outcomes.back().notes = std::move(notes);
  // A secret that a person gives is sealed in the outcome, and is nowhere in clear.
  run.pending_outcomes.back().said = is_secret ? R"({"value":"[secret]"})" : std::string(input);
  return {};
}

}  // namespace tenon::runtime
