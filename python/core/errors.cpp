#include "core/errors.h"

#include <string>
#include <string_view>
#include <utility>

namespace tenon::python {
namespace {

nb::object& error_maker() {
  static auto* const held = new nb::object();  // never destroyed: the interpreter may have ended
  return *held;
}

nb::object& failed_maker() {
  static auto* const held = new nb::object();
  return *held;
}

constexpr std::string_view used_within = "a function that the engine calls cannot use the engine";

[[noreturn]] void raise(const nb::object& exception) {
  PyErr_SetObject(exception.type().ptr(), exception.ptr());
  throw nb::python_error();
}

}  // namespace

nb::str to_str(std::string_view text) {
  return nb::str(text.data(), text.size());
}

nb::object outcome_parts(const host::Outcome& outcome) {
  return nb::make_tuple(outcome.state(), to_str(outcome.value()), to_str(outcome.message()), to_str(outcome.kind()),
                        to_str(outcome.blame()));
}

void set_exception_makers(nb::object error, nb::object failed) {
  error_maker() = std::move(error);
  failed_maker() = std::move(failed);
}

bool check(tenon_status status, tenon_error* const& error) {
  if (status == TENON_OK || status == TENON_NOT_YET) return status == TENON_OK;
  const std::string message(host::view(tenon_error_message(error)));
  if (message.starts_with(used_within)) {
    tenon_error_free(error);
    raise_used_within();
  }
  const std::string json(host::view(tenon_error_json(error)));
  tenon_error_free(error);
  raise(error_maker()(to_str(message), to_str(json)));
}

std::string shown(nb::handle object) {
  const nb::object text = nb::steal(PyObject_Str(object.ptr()));
  const nb::object bytes =
      text.is_valid() ? nb::steal(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "replace")) : nb::object();
  if (bytes.is_valid()) {
    return {PyBytes_AsString(bytes.ptr()), static_cast<std::size_t>(PyBytes_Size(bytes.ptr()))};
  }
  PyErr_Clear();
  return "its message cannot be read";
}

void raise_used_within() {
  const std::string message = std::string(used_within) + "; one that is marked with `@tenon.extern(blocking=True)` can";
  raise(error_maker()(to_str(message), R"({"status":"conflict"})"));
}

void raise_wrong_input(const std::string& message) {
  raise(error_maker()(to_str(message), R"({"status":"wrong_input"})"));
}

void raise_not_passed() {
  throw nb::type_error("the value cannot be passed to Python: it is secret, a Context, or nested too deep");
}

void raise(tenon_outcome* outcome, const nb::object& run) {
  const host::Outcome owned(outcome);
  if (owned.state() == TENON_RUN_RETURNED) raise_not_passed();
  raise(failed_maker()(owned.state(), to_str(owned.message()), to_str(owned.kind()), to_str(owned.blame()), run));
}

}  // namespace tenon::python
