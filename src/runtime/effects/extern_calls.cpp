#include "runtime/effects/extern_calls.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/events.h"
#include "runtime/label_sources.h"
#include "runtime/recording/agent_records.h"
#include "vm/execution/trust.h"

namespace tenon::runtime {

using types::FailureKind;

namespace {

/// A call that takes less is quick: handing it to another thread would cost as much.
constexpr std::chrono::microseconds quick_call_max{200};

/// A hundred years: a longer budget never ends.
constexpr std::uint64_t budget_ms_max = std::uint64_t{100} * 365 * 24 * 60 * 60 * 1000;

/// `5 s`, `250 ms`
std::string describe_ms(std::uint64_t milliseconds) {
  if (milliseconds % 1'000 == 0) return fmt::format("{} s", milliseconds / 1'000);
  return fmt::format("{} ms", milliseconds);
}

tools::ExternError timed_out(std::string message) {
  tools::ExternError late;
  late.kind = FailureKind::TimedOut;
  late.message = std::move(message);
  return late;
}

}  // namespace

ExternCalls::ExternCalls(RunTable& runs, Outcomes& outcomes, Questions& questions, RunSecrets& secrets,
                         tools::ExternCaller* caller, Clock& clock, Listener* listener, tools::Placement lone_call)
    : runs_(runs),
      outcomes_(outcomes),
      questions_(questions),
      secrets_(secrets),
      caller_(caller),
      clock_(clock),
      listener_(listener),
      lone_call_(lone_call),
      budget_ends_([this](std::uint64_t id) { return calls_.contains(id); }) {}

Result<void, effects::SecretError> ExternCalls::start(RunId id, const OpenRequest& open, bool is_alone) {
  const Run& run = runs_[id];
  const vm::Request& request = open.request;
  std::vector<std::string> secrets;
  auto arguments = secrets_.open_arguments(run, request, secrets);
  if (!arguments) return failure(std::move(arguments.error()));
  if (listener_ != nullptr) {
    listener_->on_extern_called({PerformedEffect(id, *run.core, request), request.subject, request.arguments,
                                 sources_of_call(run.core->image()->program(), run.core->machine().labels(), request),
                                 vm::reasons_for_call(run.core->machine().state(), request)});
  }
  const tools::CallId call_id = next_id_++;
  Call& call = calls_.emplace(call_id, Call{id, request, clock_.monotonic(), std::move(secrets)}).first->second;
  if (caller_ == nullptr) {
    on_returned(call_id, failure(tools::ExternError{FailureKind::ToolFailed, "no library defines it", ""}));
    return {};
  }
  call.time_left = run.core->machine().time_left(request.id);
  if (call.time_left && !is_once(open, run.core->image()->program())) {
    budget_ends_.add(call_id, clock_.monotonic(), *call.time_left);
  } else if (call.time_left && !open.wake_at) {
    // What cleans up after the budget must not run beside the call.
    const std::uint64_t left = std::min<std::uint64_t>(*call.time_left, budget_ms_max);
    budget_ends_.add(call_id, clock_.monotonic(), left + static_cast<std::uint64_t>(outlived_call_max.count()));
  }
  // Without a store, calls of different runs could have the same key, and a service must not confuse them.
  std::string key = run.journal.is_stored() ? run.journal.name().text + "/" + request.key : std::string();
  // A call with an answer is another effect than the one that asked.
  if (open.pauses > 0 && !key.empty()) key += fmt::format("#{}", open.pauses);
  std::optional<std::string> input;
  if (open.input) input = open.input->text;
  auto outcome = caller_->start(call_id,
                                {run.core->image()->externs(), call.request.subject, std::move(*arguments),
                                 std::move(key), std::move(input), id.index},
                                place(call, open, is_alone), *this);
  if (outcome) on_returned(call_id, std::move(*outcome));
  return {};
}

tools::Placement ExternCalls::place(const Call& call, const OpenRequest& open, bool is_alone) const {
  if (!is_alone || open.wake_at || call.time_left) return tools::Placement::Pool;
  if (is_once(open, runs_[call.run].core->image()->program())) return tools::Placement::Pool;
  return quick_.contains(name_of(call)) ? lone_call_ : tools::Placement::Pool;
}

const std::string& ExternCalls::name_of(const Call& call) const {
  return runs_[call.run].core->image()->program().externs[call.request.subject].name;
}

std::vector<std::string> ExternCalls::names() const {
  std::vector<std::string> names;
  for (const auto& [id, call] : calls_) names.push_back(name_of(call));
  return names;
}

bool ExternCalls::is_in_progress(RunId run, vm::RequestId request) const {
  return std::ranges::any_of(
      calls_, [&](const auto& entry) { return entry.second.run == run && entry.second.request.id == request; });
}

void ExternCalls::poll(std::chrono::milliseconds wait) {
  caller_->poll(wait);
}

void ExternCalls::on_returned(tools::CallId id, tools::ExternOutcome outcome) {
  const auto found = calls_.find(id);
  if (found == calls_.end()) return;  // cancelled
  Call call = std::move(found->second);
  calls_.erase(found);
  note_time(call, true);
  conclude(std::move(call), std::move(outcome));
}

void ExternCalls::note_time(const Call& call, bool has_returned) {
  if (clock_.monotonic() - call.started >= quick_call_max) {
    quick_.erase(name_of(call));
  } else if (has_returned) {
    quick_.insert(name_of(call));
  }
}

void ExternCalls::conclude(Call call, tools::ExternOutcome outcome, std::uint64_t milliseconds_min) {
  const Run& run = runs_[call.run];
  const vm::Request& request = call.request;
  secrets_.hide(run, request, call.secrets, outcome);
  const ProgramImage& image = *run.core->image();
  if (listener_ != nullptr) {
    const vm::Value none;
    listener_->on_extern_returned({call.run, request.key, *image.loaded(), request.subject, outcome ? *outcome : none,
                                   outcome ? std::string_view() : std::string_view(outcome.error().message)});
  }
  const std::string& name = image.program().externs[request.subject].name;
  const OpenRequest* const open = runs_.find(call.run, request.key);
  const bool is_interrupted = !outcome && outcome.error().is_interrupted && open != nullptr;
  if (is_interrupted && run.journal.is_stored() && is_once(*open, image.program())) {
    questions_.settle_cut_off(call.run, request.key);
    return runs_.enqueue(call.run);
  }
  const bool is_outlived = open != nullptr && open->is_outlived;
  if (is_outlived && !outcome && (outcome.error().question || outcome.error().prompt)) {
    outcome = failure(tools::ExternError{FailureKind::Cancelled, "its branch was cancelled", ""});
  }
  if (!is_outlived && (is_interrupted || (!outcome && outcome.error().is_unavailable)) &&
      outcomes_.await_service(call.run, request.key,
                              {.service = name, .is_tool = true, .reason = outcome.error().message})) {
    return;
  }
  if (!outcome && outcome.error().question) {
    return questions_.pause(call.run, request.key, std::move(*outcome.error().question));
  }
  vm::Outcome result;
  if (!outcome && outcome.error().prompt) {
    result = prompt_outcome(image, *outcome.error().prompt, name);
  } else if (outcome) {
    result.what = vm::ReturnedValue{std::move(*outcome)};
  } else {
    const std::string_view verb = outcome.error().kind == FailureKind::TimedOut ? "has given nothing" : "failed:";
    result.what =
        vm::EffectFailure{outcome.error().kind, fmt::format("`{}` {} {}", name, verb, outcome.error().message), name};
  }
  const auto elapsed = std::chrono::duration_cast<std::chrono::milliseconds>(clock_.monotonic() - call.started);
  result.usage.milliseconds = std::max(static_cast<std::uint64_t>(elapsed.count()), milliseconds_min);
  outcomes_.enqueue(call.run, request.key, std::move(result));
}

/// Ends a call for its caller.
std::optional<ExternCalls::Call> ExternCalls::take(RunId run, vm::RequestId request) {
  const auto found = std::ranges::find_if(
      calls_, [&](const auto& entry) { return entry.second.run == run && entry.second.request.id == request; });
  if (found == calls_.end()) return std::nullopt;
  const tools::CallId id = found->first;
  Call call = std::move(found->second);
  calls_.erase(found);
  note_time(call, false);
  caller_->cancel(id);
  return call;
}

void ExternCalls::time_out(RunId id, const OpenRequest& open) {
  const bytecode::Program& program = runs_[id].core->image()->program();
  const std::uint64_t within = program.externs[open.request.subject].call_options.within_ms.value_or(0);
  auto call = take(id, open.request.id);
  if (!call) call = Call{id, open.request, clock_.monotonic(), {}};
  conclude(std::move(*call), failure(timed_out("within " + describe_ms(within))));
}

void ExternCalls::end_late() {
  for (const tools::CallId id : budget_ends_.take_due(clock_.monotonic())) end(id);
}

std::optional<std::chrono::milliseconds> ExternCalls::time_to_late() {
  return budget_ends_.time_to_next(clock_.monotonic());
}

void ExternCalls::end(tools::CallId id) {
  const auto found = calls_.find(id);
  if (found == calls_.end()) return;
  Call call = std::move(found->second);
  calls_.erase(found);
  note_time(call, false);
  caller_->cancel(id);
  const OpenRequest* const open = runs_.find(call.run, call.request.key);
  if (open != nullptr && is_once(*open, runs_[call.run].core->image()->program()) &&
      runs_[call.run].journal.is_stored()) {
    questions_.settle_cut_off(call.run, call.request.key);
    return runs_.enqueue(call.run);
  }
  const std::uint64_t milliseconds = *call.time_left;
  conclude(
      std::move(call),
      failure(timed_out(fmt::format("within the {} that a budget of time has left it", describe_ms(milliseconds)))),
      milliseconds + 1);
}

void ExternCalls::cancel(RunId run, vm::RequestId request) {
  static_cast<void>(take(run, request));
}

void ExternCalls::cancel(RunId run) {
  std::vector<vm::RequestId> requests;
  for (const auto& [id, call] : calls_) {
    if (call.run == run) requests.push_back(call.request.id);
  }
  for (const vm::RequestId request : requests) cancel(run, request);
}

void ExternCalls::cancel_all() {
  const auto calls = std::exchange(calls_, {});
  for (const auto& [id, call] : calls) caller_->cancel(id);
}

}  // namespace tenon::runtime
