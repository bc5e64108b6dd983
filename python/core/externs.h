#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/unique_ptr.h>
#include <tenon/tenon.h>

#include <memory>
#include <string>
#include <vector>

#include "core/types.h"

namespace tenon::python {

class Dispatcher;

/// A call of an extern that is completed later, from any thread of Python.
class DeferredCall {
 public:
  DeferredCall(tenon_call* call, const Type& result, std::shared_ptr<TypeList> types,
               std::shared_ptr<Dispatcher> dispatcher)
      : call_(call), result_(&result), types_(std::move(types)), dispatcher_(std::move(dispatcher)) {}
  ~DeferredCall();
  DeferredCall(const DeferredCall&) = delete;
  DeferredCall& operator=(const DeferredCall&) = delete;

  [[nodiscard]] bool is_cancelled() const { return call_ == nullptr || tenon_is_cancelled(call_); }
  /// Whether the function may be called now, on another thread than the one that has started the call.
  [[nodiscard]] bool may_begin() const { return call_ != nullptr && tenon_may_begin(call_); }
  /// Completes the call with a value; a value of another type fails it.
  void finish(const nb::object& value);
  /// The run that has made the call (key_of_run).
  [[nodiscard]] nb::object run() const;
  /// Completes the call with a failure.
  void fail(const std::string& message, bool is_unavailable);
  /// The call is completed without this.
  void let_go() { call_ = nullptr; }
  /// Completes the call, of which it is not known what it has done: a recorded run makes it again, or asks a person.
  void interrupt();

 private:
  void complete();

  tenon_call* call_;
  const Type* result_;
  std::shared_ptr<TypeList> types_;
  std::shared_ptr<Dispatcher> dispatcher_;
};

/// Where a plain function is called.
enum class ExternThread : int {
  /// On a thread of its own, unless it is quick and nothing else could continue meanwhile. Then on the thread that
  /// continues the runs, but outside of the engine (tenon_perform_outside), so that it stops nothing if it blocks.
  Suitable,
  Own,     ///< on a thread of its own
  Engine,  ///< on the thread that continues the runs
};

/// A function of Python that performs an extern. Shared by its engine and by the package.
class Extern : public std::enable_shared_from_this<Extern> {
 public:
  /// `schedule(deferred, function, arguments, context)` starts the coroutine of a call, and returns what can be
  /// cancelled or None. `schedule` is None for a plain function. `thread`: an ExternThread.
  Extern(nb::object function, nb::object schedule, int thread, bool takes_call)
      : function_(std::move(function)),
        schedule_(std::move(schedule)),
        thread_(static_cast<ExternThread>(thread)),
        takes_call_(takes_call) {}

  /// The declaration in the program, which is known when the program has been loaded.
  void bind(std::shared_ptr<TypeList> types, const std::vector<std::size_t>& parameters, std::size_t result);
  /// Forgets the function, which may refer to its engine: that was stopped.
  void close() { function_ = schedule_ = nb::none(); }
  /// What starts the calls that complete later.
  void set_dispatcher(std::shared_ptr<Dispatcher> dispatcher) { dispatcher_ = std::move(dispatcher); }
  [[nodiscard]] ExternThread thread() const { return thread_; }
  [[nodiscard]] bool completes_later() const { return !schedule_.is_none(); }

  /// A `tenon_host_function`; `user` is a pointer to a shared pointer of this class.
  static void perform(tenon_call* call, void* user);
  /// Starts a call that was deferred. With the lock.
  [[nodiscard]] nb::object start(tenon_call* call);
  /// Prepares a call that was deferred for a thread that makes it: what completes it, the function, its arguments, and
  /// the context variables of its run. None: it has ended. With the lock.
  [[nodiscard]] nb::object begin(tenon_call* call);

 private:
  [[nodiscard]] bool needs_thread(const tenon_call* call) const;
  static void perform_here(tenon_call* call, void* user);
  void call(tenon_call* call);
  [[nodiscard]] nb::object call_function(const tenon_call* call, const nb::object& arguments) const;
  [[nodiscard]] nb::object read_arguments(tenon_call* call, const nb::object& deferred) const;

  nb::object function_;
  nb::object schedule_;
  ExternThread thread_;
  bool takes_call_;
  std::shared_ptr<TypeList> types_;
  std::vector<const Type*> parameters_;
  const Type* result_ = nullptr;
  std::shared_ptr<Dispatcher> dispatcher_;
};

/// Adds an extern to the options of an engine.
void add_extern(tenon_options* options, const std::string& name, const std::shared_ptr<Extern>& added);

/// Classes of the package: of a call, of an unavailable service, and of the results that are no values; and the
/// function `note_cause(text, exception, run)`, which keeps an exception that fails a call of a run (key_of_run).
struct ExternClasses {
  nb::object call;
  nb::object unavailable;
  nb::object pause_for_input;
  nb::object pause_for_child;
  nb::object finish_agent;
  nb::object note_cause;
};
void set_extern_classes(ExternClasses classes);

}  // namespace tenon::python
