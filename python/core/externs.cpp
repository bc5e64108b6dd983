#include "core/externs.h"

#include <string_view>
#include <utility>

#include "core/gil.h"

namespace tenon::python {
namespace {

nb::object& call_class() {
  static auto* const held = new nb::object();  // never destroyed: the interpreter may have ended
  return *held;
}

nb::object& unavailable_class() {
  static auto* const held = new nb::object();
  return *held;
}

/// Fails a call with an exception, as people read it.
void fail_with(tenon_call* call, nb::python_error& error) {
  const nb::object exception = nb::borrow(error.value());
  const std::string message = nb::cast<std::string>(nb::str(exception));
  if (PyObject_IsInstance(exception.ptr(), unavailable_class().ptr()) == 1) {
    return tenon_fail_unavailable(call, message.c_str());
  }
  // Raised again where the thread waits for the run.
  if (error.matches(PyExc_KeyboardInterrupt)) PyErr_SetInterrupt();
  const std::string name = nb::cast<std::string>(nb::str(exception.type().attr("__name__")));
  const std::string text = message.empty() ? name : name + ": " + message;
  tenon_fail_text(call, text.data(), text.size());
}

}  // namespace

void set_extern_classes(nb::object call, nb::object unavailable) {
  call_class() = std::move(call);
  unavailable_class() = std::move(unavailable);
}

DeferredCall::~DeferredCall() {
  if (call_ == nullptr) return;
  static constexpr std::string_view message = "the function was given up before it returned";
  tenon_fail_text(call_, message.data(), message.size());
  complete();
}

void DeferredCall::finish(const nb::object& value) {
  if (call_ == nullptr) return;
  try {
    write(call_, tenon_result(call_), value, *result_);
  } catch (nb::python_error& error) {
    fail_with(call_, error);
  }
  complete();
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
  without_lock([call = std::exchange(call_, nullptr)] { tenon_finish(call); });
}

void Extern::bind(std::shared_ptr<TypeList> types, const std::vector<std::size_t>& parameters, std::size_t result) {
  types_ = std::move(types);
  parameters_.clear();
  for (const std::size_t parameter : parameters) parameters_.push_back(&types_->at(parameter));
  result_ = &types_->at(result);
}

void Extern::call(tenon_call* call) {
  const bool is_deferred = !schedule_.is_none();
  if (is_deferred && !tenon_defer(call)) return;
  std::unique_ptr<DeferredCall> deferred;
  if (is_deferred) deferred = std::make_unique<DeferredCall>(call, *result_, types_);
  const std::size_t first = takes_call_ ? 1 : 0;
  nb::object arguments = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(parameters_.size() + first)));
  const auto set = [&](std::size_t at, nb::object value) {
    PyTuple_SetItem(arguments.ptr(), static_cast<Py_ssize_t>(at), value.release().ptr());
  };
  if (takes_call_) set(0, call_class()(nb::str(tenon_effect_key(call))));
  for (std::size_t at = 0; at < parameters_.size(); ++at) {
    set(first + at, read(call, tenon_argument(call, at), *parameters_[at]));
  }
  if (tenon_failed(call)) return;
  if (is_deferred) {
    schedule_(nb::cast(std::move(deferred)), function_, arguments);
    return;
  }
  const nb::object result = nb::steal(PyObject_CallObject(function_.ptr(), arguments.ptr()));
  if (!result.is_valid()) throw nb::python_error();
  write(call, tenon_result(call), result, *result_);
}

void Extern::perform(tenon_call* call, void* user) {
  const Callback callback;
  if (!callback.is_allowed()) return tenon_fail(call, "the interpreter has ended");
  try {
    (*static_cast<std::shared_ptr<Extern>*>(user))->call(call);
  } catch (nb::python_error& error) {
    fail_with(call, error);
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
