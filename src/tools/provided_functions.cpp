#include "tools/provided_functions.h"

#include <fmt/format.h>

#include <atomic>
#include <exception>
#include <mutex>
#include <utility>
#include <vector>

#include "base/ensure.h"
#include "tools/native/extern_table.h"
#include "tools/native/header_call.h"
#include "tools/native/isolate.h"
#include "tools/native/result_slots.h"

namespace tenon::tools {

/// The deferred calls that were finished and not reported yet.
struct ProvidedFunctions::Finished {
  std::mutex mutex;
  std::vector<std::shared_ptr<Call>> calls;
  std::function<void()> wake;  ///< empty: there is no owner any more
};

struct ProvidedFunctions::Call : std::enable_shared_from_this<Call> {
  Call(CallId number, ExternCall given, std::shared_ptr<Finished> list)
      : id(number),
        inputs(std::move(given)),
        finished(std::move(list)),
        header(inputs.table->refinements(), inputs.table->program().externs[inputs.subject].result, inputs.arguments,
               blame(), {.key = inputs.key, .input = inputs.input, .is_cancelled = &is_cancelled}) {
    header.host = this;
  }

  [[nodiscard]] const std::string& blame() const { return inputs.table->blame(inputs.subject); }

  const CallId id;
  ExternCall inputs;
  const std::shared_ptr<Finished> finished;
  std::atomic<bool> is_cancelled = false;
  HeaderCall header;
  bool is_deferred = false;    ///< for the thread that started the call
  std::shared_ptr<Call> self;  ///< from `defer` until `finish_deferred`
  std::optional<ExternOutcome> outcome;
  std::exception_ptr exception;  ///< thrown instead of the outcome
};

bool defer(tenon_call* call) {
  HeaderCall& header = HeaderCall::of(call);
  auto* const provided = static_cast<ProvidedFunctions::Call*>(header.host);
  if (provided == nullptr) {
    header.slots.fail("only a function of the program that runs this one can be completed later");
    return false;
  }
  if (provided->is_deferred) return true;
  // Other threads may read the arguments while the program continues.
  for (vm::Value& argument : provided->inputs.arguments) {
    if (isolate(argument)) continue;
    header.slots.fail(fmt::format("an argument is nested more than {} levels deep", extern_depth_max));
    return false;
  }
  provided->is_deferred = true;
  provided->self = provided->shared_from_this();
  return true;
}

void finish_deferred(tenon_call* call) {
  auto* const provided = static_cast<ProvidedFunctions::Call*>(HeaderCall::of(call).host);
  std::shared_ptr<ProvidedFunctions::Call> self = std::exchange(provided->self, nullptr);
  try {
    provided->outcome = provided->header.finish(provided->blame());
  } catch (...) {
    provided->exception = std::current_exception();
  }
  const std::shared_ptr<ProvidedFunctions::Finished> list = provided->finished;
  const std::scoped_lock lock(list->mutex);
  if (!list->wake) return;
  list->calls.push_back(std::move(self));
  list->wake();  // under the lock, so that the notification does not outlive the owner
}

ProvidedFunctions::ProvidedFunctions(ProvidedFunctionMap functions, std::unique_ptr<ExternCaller> next,
                                     std::function<void()> notify)
    : functions_(std::move(functions)), next_(std::move(next)), finished_(std::make_shared<Finished>()) {
  finished_->wake = [&caller = *next_, notify = std::move(notify)] {
    caller.wake();
    if (notify) notify();
  };
}

ProvidedFunctions::~ProvidedFunctions() {
  for (const auto& [id, pending] : pending_) pending.call->is_cancelled = true;
  std::vector<std::shared_ptr<Call>> calls;  // each refers to the list that it is in
  const std::scoped_lock lock(finished_->mutex);
  calls.swap(finished_->calls);
  finished_->wake = nullptr;
}

std::optional<ExternOutcome> ProvidedFunctions::start(CallId id, ExternCall call, Placement placement,
                                                      ExternSink& sink) {
  if (call.table == nullptr || call.table->kind(call.subject) != BindingKind::Provided) {
    return next_->start(id, std::move(call), placement, sink);
  }
  const auto found = functions_.find(call.table->program().externs[call.subject].name);
  if (found == functions_.end()) {
    return failure(ExternError{types::FailureKind::ToolFailed, "the program that runs this one does not provide it",
                               call.table->blame(call.subject)});
  }
  const auto provided = std::make_shared<Call>(id, std::move(call), finished_);
  pending_[id] = {provided, &sink};
  try {
    found->second(&provided->header);
  } catch (const BrokenCondition&) {
    throw;
  } catch (const std::exception& exception) {
    provided->header.slots.fail(exception.what());
  }
  if (provided->is_deferred) return std::nullopt;
  pending_.erase(id);
  return provided->header.finish(provided->blame());
}

void ProvidedFunctions::cancel(CallId id) {
  const auto found = pending_.find(id);
  if (found == pending_.end()) return next_->cancel(id);
  const Pending cancelled = std::move(found->second);
  pending_.erase(found);
  cancelled.call->is_cancelled = true;
  cancelled.sink->on_returned(
      id, failure(ExternError{types::FailureKind::Cancelled, "the call was cancelled", cancelled.call->blame()}));
}

void ProvidedFunctions::poll(std::chrono::milliseconds wait) {
  std::vector<std::shared_ptr<Call>> calls;
  const auto take = [&] {
    const std::scoped_lock lock(finished_->mutex);
    calls.swap(finished_->calls);
  };
  take();
  next_->poll(calls.empty() ? wait : std::chrono::milliseconds{0});
  if (calls.empty()) take();
  for (const std::shared_ptr<Call>& call : calls) {
    const auto found = pending_.find(call->id);
    // A cancelled call has been reported, and its id may be another call's by now.
    if (found == pending_.end() || found->second.call != call) continue;
    ExternSink& sink = *found->second.sink;
    pending_.erase(found);
    if (call->exception) std::rethrow_exception(call->exception);
    sink.on_returned(call->id, std::move(*call->outcome));
  }
}

}  // namespace tenon::tools
