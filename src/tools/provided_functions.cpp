#include "tools/provided_functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <utility>
#include <vector>

#include "base/ensure.h"
#include "base/live_objects.h"
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
  std::function<bool()> may_begin;

  void add(std::shared_ptr<Call> call) {
    const std::scoped_lock lock(mutex);
    if (!wake) return;
    calls.push_back(std::move(call));
    if (calls.size() > 1) return;  // the owner is woken already
    wake();                        // under the lock, so that the notification does not outlive the owner
  }
};

struct ProvidedFunctions::Call final : OutsideCall, std::enable_shared_from_this<Call> {
  Call(CallId number, ExternCall given, std::shared_ptr<Finished> list)
      : id(number),
        inputs(std::move(given)),
        finished(std::move(list)),
        header(inputs.table->refinements(), inputs.table->program().externs[inputs.subject].result, inputs.arguments,
               blame(), {.key = inputs.key, .input = inputs.input, .is_cancelled = &is_cancelled}) {
    header.owner = CallOwner::Provided;
    header.host = this;
  }

  [[nodiscard]] const std::string& blame() const { return inputs.table->blame(inputs.subject); }
  [[nodiscard]] ExternOutcome failure_of_thrown() const {
    return failure(ExternError{types::FailureKind::ToolFailed, *thrown, blame()});
  }
  void make() noexcept override;
  void finish() override { finished->add(shared_from_this()); }

  const CallId id;
  ExternCall inputs;
  const std::shared_ptr<Finished> finished;
  std::atomic<bool> is_cancelled = false;
  HeaderCall header;
  std::uint64_t run_number = 0;
  bool is_lone = false;  ///< Placement::Inline
  bool may_be_outside = false;
  ProvidedFunction outside;  ///< what is called outside; may be empty
  bool is_deferred = false;  ///< for the thread that started the call
  std::optional<ExternOutcome> outcome;
  std::exception_ptr exception;       ///< thrown instead of the outcome
  std::optional<std::string> thrown;  ///< by the function, after it had deferred the call
};

namespace {

/// From `defer` until `finish_deferred`.
LiveObjects<ProvidedFunctions::Call>& deferred_calls() {
  static auto* const calls = new LiveObjects<ProvidedFunctions::Call>;  // also for threads alive when the process ends
  return *calls;
}

/// Null for a call that no function of the embedding program performs.
ProvidedFunctions::Call* provided_call(const tenon_call* call) {
  const HeaderCall& header = *static_cast<const HeaderCall*>(call);
  return header.owner == CallOwner::Provided ? static_cast<ProvidedFunctions::Call*>(header.host) : nullptr;
}

/// Other threads may read the arguments while the program continues. False: one is nested too deep.
bool isolate_arguments(ProvidedFunctions::Call& call) {
  return std::ranges::all_of(call.inputs.arguments, isolate);
}

/// Within a handler: what was thrown.
std::string describe_exception() {
  try {
    throw;
  } catch (const BrokenCondition&) {
    throw;
  } catch (const std::exception& exception) {
    return exception.what();
  } catch (...) {
    return "an exception without a message";
  }
}

}  // namespace

void ProvidedFunctions::Call::make() noexcept {
  try {
    try {
      outside(&header);
    } catch (...) {
      header.slots.fail(describe_exception());
    }
    outcome = header.finish(blame());
  } catch (...) {
    exception = std::current_exception();
  }
}

bool defer(tenon_call* call) {
  HeaderCall& header = HeaderCall::of(call);
  auto* const provided = provided_call(call);
  if (provided == nullptr) {
    if (header.owner == CallOwner::Library) {
      header.slots.fail("only a function of the program that runs this one can be completed later");
    }
    return false;
  }
  if (provided->is_deferred) return true;
  if (provided->outside) {
    header.slots.fail("a call that is made outside of the engine cannot be completed later");
    return false;
  }
  if (!isolate_arguments(*provided)) {
    header.slots.fail(fmt::format("an argument is nested more than {} levels deep", extern_depth_max));
    return false;
  }
  deferred_calls().add(call, provided->shared_from_this());
  provided->is_deferred = true;
  return true;
}

bool may_begin(tenon_call* call) {
  const auto* const provided = provided_call(call);
  if (provided == nullptr) return false;
  ProvidedFunctions::Finished& list = *provided->finished;
  // Under the lock, so that it is not asked after the call was cancelled.
  const std::scoped_lock lock(list.mutex);
  return !provided->is_cancelled && (!list.may_begin || list.may_begin());
}

bool is_lone(const tenon_call* call) {
  const auto* const provided = provided_call(call);
  return provided != nullptr && provided->is_lone;
}

bool perform_outside(tenon_call* call, ProvidedFunction work) {
  auto* const provided = provided_call(call);
  if (provided == nullptr || !provided->may_be_outside || provided->is_deferred) return false;
  if (!isolate_arguments(*provided)) return false;
  provided->outside = std::move(work);
  return true;
}

std::uint64_t run_number(const tenon_call* call) {
  const auto* const provided = provided_call(call);
  return provided == nullptr ? 0 : provided->run_number;
}

void finish_deferred(tenon_call* call) {
  std::shared_ptr<ProvidedFunctions::Call> provided = deferred_calls().take(call);
  if (provided == nullptr) return;  // it was not deferred, or was finished before and does not exist any more
  const std::shared_ptr<ProvidedFunctions::Finished> list = provided->finished;
  try {
    provided->outcome = provided->header.finish(provided->blame());
  } catch (...) {
    provided->exception = std::current_exception();
  }
  list->add(std::move(provided));
}

ProvidedFunctions::ProvidedFunctions(ProvidedFunctionMap functions, ProvidedHooks hooks,
                                     std::unique_ptr<ExternCaller> next, std::function<void()> notify,
                                     std::function<bool()> may_begin)
    : functions_(std::move(functions)),
      hooks_(std::move(hooks)),
      next_(std::move(next)),
      finished_(std::make_shared<Finished>()) {
  finished_->may_begin = std::move(may_begin);
  finished_->wake = [&caller = *next_, notify = std::move(notify)] {
    caller.wake();
    if (notify) notify();
  };
}

ProvidedFunctions::~ProvidedFunctions() {
  for (const auto& [id, pending] : pending_) note_cancelled(*pending.call);
  std::vector<std::shared_ptr<Call>> calls;  // each refers to the list that it is in
  const std::scoped_lock lock(finished_->mutex);
  calls.swap(finished_->calls);
  finished_->wake = nullptr;
  finished_->may_begin = nullptr;
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
  if (hooks_.number_of) provided->run_number = hooks_.number_of(provided->inputs.run);
  pending_[id] = {provided, &sink};
  if (placement == Placement::Pool || outside_ != nullptr || lone_calls_ == LoneCalls::None) {
    ready_.push_back(provided);
    return std::nullopt;
  }
  provided->is_lone = true;
  provided->may_be_outside = lone_calls_ == LoneCalls::Outside;
  perform(provided);
  if (provided->outside) {
    outside_ = provided;
    is_outside_taken_ = false;
    return std::nullopt;
  }
  if (provided->is_deferred && !provided->thrown) return std::nullopt;
  pending_.erase(id);
  if (provided->thrown) return provided->failure_of_thrown();
  return provided->header.finish(provided->blame());
}

void ProvidedFunctions::perform(const std::shared_ptr<Call>& call) {
  if (!tools::may_begin(&call->header)) {
    call->header.is_unavailable = true;
    return call->header.slots.fail("this process is not the owner of its runs now");
  }
  const auto& function = functions_.find(call->inputs.table->program().externs[call->inputs.subject].name)->second;
  try {
    function(&call->header);
  } catch (...) {
    std::string message = describe_exception();
    call->outside = nullptr;
    if (!call->is_deferred) return call->header.slots.fail(std::move(message));
    // Another thread may use the call, or none may know of it: it fails now, and is valid until it is finished.
    call->thrown = std::move(message);
    const std::scoped_lock lock(finished_->mutex);
    call->is_cancelled = true;
  }
}

/// Reports a call whose function has thrown after it had deferred the call.
void ProvidedFunctions::fail_thrown(const std::shared_ptr<Call>& call) {
  const auto found = pending_.find(call->id);
  if (found == pending_.end() || found->second.call != call) return;
  ExternSink& sink = *found->second.sink;
  pending_.erase(found);
  sink.on_returned(call->id, call->failure_of_thrown());
}

namespace {

/// Several calls that follow one another.
class Batch {
 public:
  Batch(const ProvidedHooks& hooks, bool has_several) : hooks_(has_several ? &hooks : nullptr) {
    try {
      if (hooks_ != nullptr && hooks_->before_calls) hooks_->before_calls();
    } catch (...) {
      problem_ = describe_exception();
    }
  }
  ~Batch() {
    try {
      if (hooks_ != nullptr && hooks_->after_calls && !problem_) hooks_->after_calls();
    } catch (...) {
      // The calls have ended: there is nothing that could fail.
    }
  }
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;
  /// Why the calls cannot be made.
  [[nodiscard]] const std::optional<std::string>& problem() const { return problem_; }

 private:
  const ProvidedHooks* const hooks_;
  std::optional<std::string> problem_;
};

}  // namespace

void ProvidedFunctions::perform_ready() {
  const std::vector<std::shared_ptr<Call>> ready = std::exchange(ready_, {});
  {
    const Batch batch(hooks_, ready.size() > 1);
    for (const std::shared_ptr<Call>& call : ready) {
      if (call->is_cancelled) continue;
      if (batch.problem()) {
        call->header.slots.fail(*batch.problem());
      } else {
        perform(call);
      }
    }
  }
  for (const std::shared_ptr<Call>& call : ready) {
    if (call->thrown) fail_thrown(call);
    if (call->is_deferred || call->is_cancelled) continue;
    call->outcome = call->header.finish(call->blame());
    report(call);
  }
}

void ProvidedFunctions::note_cancelled(Call& call) const {
  {
    const std::scoped_lock lock(finished_->mutex);
    call.is_cancelled = true;
  }
  try {
    if (call.is_deferred && hooks_.on_cancelled) hooks_.on_cancelled(&call.header);
  } catch (...) {
    // The call was cancelled all the same.
  }
}

void ProvidedFunctions::cancel(CallId id) {
  const auto found = pending_.find(id);
  if (found == pending_.end()) return next_->cancel(id);
  const Pending cancelled = std::move(found->second);
  pending_.erase(found);
  note_cancelled(*cancelled.call);
  cancelled.sink->on_returned(
      id, failure(ExternError{types::FailureKind::Cancelled, "the call was cancelled", cancelled.call->blame()}));
}

std::vector<std::string> ProvidedFunctions::names() const {
  std::vector<std::string> names;
  for (const auto& [name, function] : functions_) names.push_back(name);
  return names;
}

std::shared_ptr<OutsideCall> ProvidedFunctions::take_outside() {
  if (outside_ == nullptr || is_outside_taken_) return nullptr;
  if (outside_->is_cancelled) {
    outside_ = nullptr;
    return nullptr;
  }
  is_outside_taken_ = true;
  return outside_;
}

void ProvidedFunctions::take_back(const std::shared_ptr<OutsideCall>& call) {
  report(std::static_pointer_cast<Call>(call));
}

void ProvidedFunctions::report(const std::shared_ptr<Call>& call) {
  if (call == outside_) outside_ = nullptr;
  const auto found = pending_.find(call->id);
  // A cancelled call has been reported, and its id may be another call's by now.
  if (found == pending_.end() || found->second.call != call) return;
  ExternSink& sink = *found->second.sink;
  pending_.erase(found);
  if (call->exception) std::rethrow_exception(call->exception);
  sink.on_returned(call->id, std::move(*call->outcome));
}

void ProvidedFunctions::poll(std::chrono::milliseconds wait) {
  if (outside_ != nullptr && !is_outside_taken_) return;
  std::vector<std::shared_ptr<Call>> calls;
  const auto take = [&] {
    const std::scoped_lock lock(finished_->mutex);
    calls.swap(finished_->calls);
  };
  const std::size_t begun = ready_.size();
  if (begun > 0) perform_ready();
  take();
  next_->poll(begun > 0 || !calls.empty() ? std::chrono::milliseconds{0} : wait);
  if (calls.empty()) take();
  for (const std::shared_ptr<Call>& call : calls) report(call);
}

}  // namespace tenon::tools
