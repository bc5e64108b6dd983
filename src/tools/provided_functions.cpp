#include "tools/provided_functions.h"

#include <fmt/format.h>

#include <mutex>

#include "base/ensure.h"
#include "json/reader.h"
#include "tools/native/extern_table.h"
#include "vm/values/render.h"

namespace tenon::tools {

/// The results that were not reported yet.
struct ProvidedFunctions::Finished {
  struct Result {
    CallId id = 0;
    std::uint64_t number = 0;
    ProvidedResult result;
  };
  std::mutex mutex;
  std::vector<Result> results;
  std::function<void()> wake;  ///< empty: there is no owner any more
};

ProvidedFunctions::ProvidedFunctions(ProvidedFunctionMap functions, std::unique_ptr<ExternCaller> next,
                                     std::function<void()> notify)
    : functions_(std::move(functions)), next_(std::move(next)), finished_(std::make_shared<Finished>()) {
  finished_->wake = [&caller = *next_, notify = std::move(notify)] {
    caller.wake();
    if (notify) notify();
  };
}

ProvidedFunctions::~ProvidedFunctions() {
  for (const auto& [id, call] : pending_) *call.is_cancelled = true;
  const std::scoped_lock lock(finished_->mutex);
  finished_->wake = nullptr;
}

std::optional<ExternOutcome> ProvidedFunctions::start(CallId id, ExternCall call, Placement placement,
                                                      ExternSink& sink) {
  if (call.table == nullptr || call.table->kind(call.subject) != BindingKind::Provided) {
    return next_->start(id, std::move(call), placement, sink);
  }
  const bytecode::Program& program = call.table->program();
  const bytecode::Extern& declared = program.externs[call.subject];
  const auto found = functions_.find(declared.name);
  const auto refuse = [&](std::string message) {
    return failure(ExternError{types::FailureKind::ToolFailed, std::move(message), call.table->blame(call.subject)});
  };
  if (found == functions_.end()) return refuse("the program that runs this one does not provide it");
  std::string arguments = "[";
  for (const vm::Value& argument : call.arguments) {
    if (arguments.size() > 1) arguments += ',';
    if (!vm::to_json(argument, program.types, arguments)) return refuse("an argument is nested too deep");
  }
  arguments += ']';
  const std::uint64_t number = next_number_++;
  Pending& pending = pending_[id];
  pending = {number, std::move(call.table), call.subject, &sink, std::make_shared<std::atomic<bool>>(false)};
  found->second({std::move(arguments), std::move(call.key), pending.is_cancelled,
                 [finished = finished_, id, number](ProvidedResult result) {
                   const std::scoped_lock lock(finished->mutex);
                   finished->results.push_back({id, number, std::move(result)});
                   // Under the lock, so that the notification does not outlive the owner.
                   if (finished->wake) finished->wake();
                 }});
  return std::nullopt;
}

ExternOutcome ProvidedFunctions::read(const Pending& call, const ProvidedResult& result) {
  const auto refuse = [&](std::string message) {
    return failure(ExternError{types::FailureKind::ToolFailed, std::move(message), call.table->blame(call.subject)});
  };
  if (!result) return refuse(result.error());
  const bytecode::Program& program = call.table->program();
  const auto json = parse_json(*result);
  if (!json) return refuse("the result is not JSON: " + json.error().message);
  const inference::answers::ValueReader reader(call.table->refinements());
  auto value = reader.read(program.externs[call.subject].result, *json);
  if (!value) return refuse(inference::answers::describe(value.error().front(), "the result"));
  return std::move(*value);
}

void ProvidedFunctions::cancel(CallId id) {
  const auto found = pending_.find(id);
  if (found == pending_.end()) return next_->cancel(id);
  const Pending cancelled = std::move(found->second);
  pending_.erase(found);
  *cancelled.is_cancelled = true;
  cancelled.sink->on_returned(id, failure(ExternError{types::FailureKind::Cancelled, "the call was cancelled",
                                                      cancelled.table->blame(cancelled.subject)}));
}

void ProvidedFunctions::poll(std::chrono::milliseconds wait) {
  std::vector<Finished::Result> results;
  const auto take = [&] {
    const std::scoped_lock lock(finished_->mutex);
    results.swap(finished_->results);
  };
  take();
  next_->poll(results.empty() ? wait : std::chrono::milliseconds{0});
  if (results.empty()) take();
  for (const Finished::Result& finished : results) {
    const auto found = pending_.find(finished.id);
    // A cancelled call has been reported, and its id may be another call's by now.
    if (found == pending_.end() || found->second.number != finished.number) continue;
    const Pending call = std::move(found->second);
    pending_.erase(found);
    call.sink->on_returned(finished.id, read(call, finished.result));
  }
}

}  // namespace tenon::tools
