#include "core/externs.h"

#include <optional>
#include <string_view>
#include <utility>

#include "core/dispatcher.h"
#include "core/errors.h"
#include "core/gil.h"

namespace tenon::python {
namespace {

ExternClasses& classes() {
  static auto* const held = new ExternClasses();  // never destroyed: the interpreter may have ended
  return *held;
}

/// Keeps an exception for the one that a run raises which fails with this text.
void note_cause(const std::string& text, const nb::object& exception, const nb::object& run) {
  try {
    classes().note_cause(to_str(text), exception, run);
  } catch (nb::python_error& error) {
    error.discard_as_unraisable("the cause of a failure");
  }
}

/// The run that has made the call.
nb::object run_of(const tenon_call* call, const Dispatcher& dispatcher) {
  return key_of_run(dispatcher.contexts().get(), tenon_call_run(call));
}

/// Fails a call with an exception, as people read it.
void fail_with(tenon_call* call, nb::python_error& error, const Dispatcher& dispatcher) {
  const nb::object exception = nb::borrow(error.value());
  const std::string message = shown(exception);
  if (PyObject_IsInstance(exception.ptr(), classes().unavailable.ptr()) == 1) {
    note_cause(message, exception, run_of(call, dispatcher));
    return tenon_fail_unavailable(call, message.c_str());
  }
  const std::string name = shown(exception.type().attr("__name__"));
  const std::string text = message.empty() ? name : name + ": " + message;
  note_cause(text, exception, run_of(call, dispatcher));
  tenon_fail_text(call, text.data(), text.size());
  // Raised again where the thread waits for the run. At last, because whatever runs Python meanwhile would raise it.
  if (error.matches(PyExc_KeyboardInterrupt)) PyErr_SetInterrupt();
}

/// The result of a function: a value, or what happens instead.
void write_result(tenon_call* call, const nb::object& result, const Type& type) {
  const nb::handle found = result.type();
  if (found.is(classes().pause_for_input)) {
    const std::string question = shown(result.attr("question"));
    return tenon_pause_for_input_text(call, question.data(), question.size());
  }
  const bool is_child = found.is(classes().pause_for_child);
  if (is_child || found.is(classes().finish_agent)) {
    const std::string agent = shown(result.attr("agent"));
    const std::string input = shown(result.attr("input"));
    return is_child ? tenon_pause_for_child_text(call, agent.c_str(), input.data(), input.size())
                    : tenon_finish_agent_text(call, agent.c_str(), input.data(), input.size());
  }
  write(call, tenon_result(call), result, type);
}

}  // namespace

void set_extern_classes(ExternClasses given) {
  classes() = std::move(given);
}

DeferredCall::~DeferredCall() {
  interrupt();
}

void DeferredCall::interrupt() {
  if (call_ == nullptr) return;
  tenon_fail_interrupted(call_, "the function was given up before it returned");
  complete();
}

void DeferredCall::finish(const nb::object& value) {
  if (call_ == nullptr) return;
  try {
    write_result(call_, value, *result_);
  } catch (nb::python_error& error) {
    fail_with(call_, error, *dispatcher_);
  } catch (const std::exception& exception) {
    tenon_fail(call_, "%s", exception.what());
  }
  complete();
}

nb::object DeferredCall::run() const {
  return call_ == nullptr ? nb::object(nb::none()) : run_of(call_, *dispatcher_);
}

void DeferredCall::fail(const std::string& message, bool is_unavailable) {
  if (call_ == nullptr) return;
  if (is_unavailable) {
    tenon_fail_unavailable(call_, message.c_str());
  } else {
    tenon_fail_text(call_, message.data(), message.size());
  }
  complete();
}

void DeferredCall::complete() {
  dispatcher_->forget(call_);
  expect_release();
  tenon_finish(std::exchange(call_, nullptr));
}

void Extern::bind(std::shared_ptr<TypeList> types, const std::vector<std::size_t>& parameters, std::size_t result) {
  types_ = std::move(types);
  parameters_.clear();
  for (const std::size_t parameter : parameters) parameters_.push_back(&types_->at(parameter));
  result_ = &types_->at(result);
}

nb::object Extern::read_arguments(tenon_call* call, const nb::object& deferred) const {
  const std::size_t first = takes_call_ ? 1 : 0;
  nb::object arguments = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(parameters_.size() + first)));
  const auto set = [&](std::size_t at, nb::object value) {
    PyTuple_SetItem(arguments.ptr(), static_cast<Py_ssize_t>(at), value.release().ptr());
  };
  if (takes_call_) {
    const tenon_text input = tenon_input(call);
    set(0,
        classes().call(nb::str(tenon_effect_key(call)),
                       input.data == nullptr ? nb::object(nb::none()) : nb::str(input.data, input.length), deferred));
  }
  for (std::size_t at = 0; at < parameters_.size(); ++at) {
    set(first + at, read(call, tenon_argument(call, at), *parameters_[at]));
  }
  return arguments;
}

namespace {

/// What tells a function whether its call was cancelled, while it runs.
class Watched {
 public:
  explicit Watched(std::unique_ptr<DeferredCall> call) : call_(call.get()), object_(nb::cast(std::move(call))) {}
  ~Watched() { call_->let_go(); }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;
  [[nodiscard]] const nb::object& object() const { return object_; }

 private:
  DeferredCall* call_;
  nb::object object_;
};

}  // namespace

void Extern::call(tenon_call* call) {
  std::optional<Watched> watched;
  if (takes_call_) watched.emplace(std::make_unique<DeferredCall>(call, *result_, types_, dispatcher_));
  const nb::object arguments = read_arguments(call, watched ? watched->object() : nb::object(nb::none()));
  if (tenon_failed(call)) return;
  write_result(call, call_function(call, arguments), *result_);
}

/// A thread that waits for its run has the context variables of the run already.
nb::object Extern::call_function(const tenon_call* call, const nb::object& arguments) const {
  if (!is_callers_thread()) {
    const nb::object context = dispatcher_->contexts()->find(tenon_call_run(call));
    return context.attr("copy")().attr("run")(function_, *nb::borrow<nb::args>(arguments));
  }
  nb::object result = nb::steal(PyObject_CallObject(function_.ptr(), arguments.ptr()));
  if (!result.is_valid()) throw nb::python_error();
  return result;
}

nb::object Extern::begin(tenon_call* call) {
  if (!tenon_may_begin(call)) {
    dispatcher_->forget(call);
    tenon_fail_unavailable(call, "this process is not the owner of its runs now");
    tenon_finish(call);
    return nb::none();
  }
  nb::object deferred = nb::cast(std::make_unique<DeferredCall>(call, *result_, types_, dispatcher_));
  try {
    const nb::object arguments = read_arguments(call, takes_call_ ? deferred : nb::object(nb::none()));
    const nb::object context = dispatcher_->contexts()->find(tenon_call_run(call));
    if (!tenon_failed(call)) return nb::make_tuple(deferred, function_, arguments, context);
  } catch (nb::python_error& error) {
    fail_with(call, error, *dispatcher_);
  } catch (const std::exception& exception) {
    tenon_fail(call, "%s", exception.what());
  }
  return nb::none();  // `deferred` completes the call
}

nb::object Extern::start(tenon_call* call) {
  const nb::object begun = begin(call);
  return begun.is_none() ? begun : schedule_(*begun);
}

bool Extern::needs_thread(const tenon_call* call) const {
  if (thread_ == ExternThread::Engine || !dispatcher_->calls().has_threads()) return false;
  return thread_ == ExternThread::Own || !tenon_is_lone(call);
}

void Extern::perform(tenon_call* call, void* user) {
  const std::shared_ptr<Extern>& self = *static_cast<std::shared_ptr<Extern>*>(user);
  if (self->completes_later()) {
    if (tenon_defer(call)) self->dispatcher_->add_call(self, call);
    return;
  }
  if (self->needs_thread(call)) {
    if (tenon_defer(call)) self->dispatcher_->calls().add(self, call);
    return;
  }
  const bool may_block = self->thread_ == ExternThread::Suitable && self->dispatcher_->calls().has_threads();
  if (may_block && tenon_perform_outside(call, &Extern::perform_here, user)) return;
  perform_here(call, user);
}

void Extern::perform_here(tenon_call* call, void* user) {
  const std::shared_ptr<Extern>& self = *static_cast<std::shared_ptr<Extern>*>(user);
  const Callback callback;
  if (!callback.is_allowed()) return tenon_fail_unavailable(call, "the interpreter has ended");
  const CallQueue::Serving serving(self->dispatcher_->calls());
  try {
    self->call(call);
  } catch (nb::python_error& error) {
    fail_with(call, error, *self->dispatcher_);
  } catch (const std::exception& exception) {
    tenon_fail(call, "%s", exception.what());
  }
}

void add_extern(tenon_options* options, const std::string& name, const std::shared_ptr<Extern>& added) {
  const auto release = [](void* user) {
    const Callback callback;
    if (callback.is_allowed()) delete static_cast<std::shared_ptr<Extern>*>(user);
  };
  tenon_options_add_extern(options, name.c_str(), &Extern::perform, new std::shared_ptr<Extern>(added), release);
}

}  // namespace tenon::python
