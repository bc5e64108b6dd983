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

/// A call of an extern that is completed later, from any thread of Python.
class DeferredCall {
 public:
  DeferredCall(tenon_call* call, const Type& result, std::shared_ptr<TypeList> types)
      : call_(call), result_(&result), types_(std::move(types)) {}
  ~DeferredCall();
  DeferredCall(const DeferredCall&) = delete;
  DeferredCall& operator=(const DeferredCall&) = delete;

  [[nodiscard]] bool is_cancelled() const { return call_ == nullptr || tenon_is_cancelled(call_); }
  /// Completes the call with a value; a value of another type fails it.
  void finish(const nb::object& value);
  /// Completes the call with a failure.
  void fail(const std::string& message, bool is_unavailable);

 private:
  void complete();

  tenon_call* call_;
  const Type* result_;
  std::shared_ptr<TypeList> types_;
};

/// A function of Python that performs an extern. Shared by its engine and by the package.
class Extern {
 public:
  /// `schedule(deferred, arguments, call)` starts a call that completes later; None for a function that is called at
  /// once, as `function(*arguments)`.
  Extern(nb::object function, nb::object schedule, bool takes_call)
      : function_(std::move(function)), schedule_(std::move(schedule)), takes_call_(takes_call) {}

  /// The declaration in the program, which is known when the program has been loaded.
  void bind(std::shared_ptr<TypeList> types, const std::vector<std::size_t>& parameters, std::size_t result);

  /// A `tenon_host_function`; `user` is a pointer to a shared pointer of this class.
  static void perform(tenon_call* call, void* user);

 private:
  void call(tenon_call* call);

  nb::object function_;
  nb::object schedule_;
  bool takes_call_;
  std::shared_ptr<TypeList> types_;
  std::vector<const Type*> parameters_;
  const Type* result_ = nullptr;
};

/// Adds an extern to the options of an engine.
void add_extern(tenon_options* options, const std::string& name, const std::shared_ptr<Extern>& added);

/// Sets the classes that a call and an unavailable service have in the package.
void set_extern_classes(nb::object call, nb::object unavailable);

}  // namespace tenon::python
