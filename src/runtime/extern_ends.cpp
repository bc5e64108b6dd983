// How a call ends that does not return: its time is over, or a person says what has become of it.

#include <fmt/format.h>

#include <algorithm>

#include "base/ensure.h"
#include "runtime/agent_records.h"
#include "runtime/resolution.h"
#include "runtime/runtime.h"
#include "types/type_parts.h"

namespace tenon::runtime {

using types::FailureKind;

namespace {

/// `5 s`, `250 ms`
std::string describe_ms(std::uint64_t milliseconds) {
  if (milliseconds % 1'000 == 0) return fmt::format("{} s", milliseconds / 1'000);
  return fmt::format("{} ms", milliseconds);
}

}  // namespace

/// Of a call that is made now.
std::optional<std::int64_t> Runtime::extern_wakes_at(const OpenRequest& open, const bytecode::Program& program) const {
  const auto& within = program.externs[open.request.subject].call_options.within_ms;
  if (!within) return std::nullopt;
  return time_after(now_ms(), static_cast<std::int64_t>(std::min<std::uint64_t>(*within, INT64_MAX)));
}

/// A function in this process runs on, and its result is discarded; one in a process of its own is ended.
void Runtime::time_out(RunId id, const std::string& key) {
  const OpenRequest& open = *runs_[id.index].core->find(key);
  const std::uint32_t subject = open.request.subject;
  const bytecode::Program& program = runs_[id.index].core->image()->program();
  tools::ExternError late;
  late.kind = FailureKind::TimedOut;
  late.message = "within " + describe_ms(program.externs[subject].call_options.within_ms.value_or(0));
  const auto found = std::find_if(calls_.begin(), calls_.end(), [&](const auto& entry) {
    return entry.second.run == id && entry.second.request.id == open.request.id;
  });
  if (found == calls_.end()) {
    return conclude({id, open.request, dependencies_.clock.monotonic(), {}}, failure(std::move(late)));
  }
  const tools::CallId call_id = found->first;
  ExternCall call = std::move(found->second);
  calls_.erase(found);
  dependencies_.extern_caller->cancel(call_id);
  conclude(std::move(call), failure(std::move(late)));
}

void Runtime::end_call(tools::CallId id) {
  const auto found = calls_.find(id);
  ExternCall call = std::move(found->second);
  calls_.erase(found);
  dependencies_.extern_caller->cancel(id);
  const std::uint64_t milliseconds = *call.time_left;
  tools::ExternError late;
  late.kind = FailureKind::TimedOut;
  late.message = fmt::format("within the {} that a budget of time has left it", describe_ms(milliseconds));
  conclude(std::move(call), failure(std::move(late)), milliseconds + 1);
}

/// The process that has begun the call has ended.
void Runtime::ask_resolution(RunId id, const std::string& key) {
  Run& run = runs_[id.index];
  OpenRequest& open = *run.core->find(key);
  open.question = resolution_question(open);
  open.is_in_doubt = true;
  open.wake_at.reset();
  open.end_outage();
  record_pause(id, open, effects::Paused::Why::CutOff,
               run.journal.keep(resolution_schema(run.core->image()->program(), open.request.subject)));
}

void Runtime::record_pause(RunId id, OpenRequest& open, effects::Paused::Why why, effects::StoredText form) {
  Run& run = runs_[id.index];
  effects::Paused paused;
  paused.key = open.request.key;
  paused.question = *open.question;
  place(run, open.request, paused.agent, paused.depth);
  paused.callers = callers_of(run.core->machine(), open.request, run.title);
  paused.why = why;
  paused.form = std::move(form);
  open.records.push_back(run.journal.add({now_ms(), std::move(paused)}));
}

Result<void, AnswerRefusal> Runtime::take_resolution(RunId id, const std::string& key, std::string_view input,
                                                     std::optional<journal::Note> note) {
  Run& run = runs_[id.index];
  OpenRequest& open = *run.core->find(key);
  const ProgramImage& image = *run.core->image();
  auto resolution = read_resolution(image.reader(), image.program(), open.request.subject, input);
  const std::uint32_t subject = open.request.subject;
  const bool may_be_secret = types::holds_secret(image.program().types, image.program().externs[subject].result);
  if (!resolution) {
    // What was mistyped may nearly be the secret.
    std::string message = may_be_secret ? "the answer is none of " + resolution_type(image.program(), subject)
                                        : std::move(resolution.error());
    return failure(AnswerRefusal{AnswerRefusal::Kind::WrongAnswer, std::move(message)});
  }
  const bool is_secret = may_be_secret && std::holds_alternative<vm::Value>(*resolution);
  if (is_secret) {
    if (const auto sealing = prepare_secrets(image); !sealing) {
      return failure(AnswerRefusal{AnswerRefusal::Kind::NoKey, "a secret cannot be taken: " + sealing.error().message});
    }
  }
  open.question.reset();
  open.is_in_doubt = false;
  if (std::holds_alternative<CallAgain>(*resolution)) {
    // From now on the call may have been made once more: if this process ends too, the person is asked anew.
    open.wake_at = extern_wakes_at(open, image.program());
    effects::Continued said{key, run.journal.keep(std::string(input)), {}, 0, open.wake_at};
    place(run, open.request, said.agent, said.depth);
    open.records.push_back(run.journal.add({now_ms(), std::move(said)}));
    if (note) run.journal.keep_note(std::move(*note));
    run.to_perform.push_back(key);
    enqueue(id);
    return {};
  }
  vm::Outcome outcome;
  if (auto* const value = std::get_if<vm::Value>(&*resolution)) {
    outcome.what = vm::ReturnedValue{std::move(*value)};
  } else {
    const std::string& name = image.program().externs[open.request.subject].name;
    outcome.what = vm::EffectFailure{
        FailureKind::ToolFailed, fmt::format("`{}` failed: {}", name, std::get<CallFailed>(*resolution).message), name};
  }
  enqueue_outcome(id, key, std::move(outcome), {});
  ENSURE(!run.pending_outcomes.empty() && run.pending_outcomes.back().key == key);
  run.pending_outcomes.back().note = std::move(note);
  // A secret that a person gives is sealed in the outcome, and nowhere in clear.
  run.pending_outcomes.back().said = is_secret ? R"({"value":"[secret]"})" : std::string(input);
  return {};
}

}  // namespace tenon::runtime
