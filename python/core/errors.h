#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <tenon/tenon.hpp>

#include <string>
#include <string_view>

namespace tenon::python {

namespace nb = nanobind;

[[nodiscard]] nb::str to_str(std::string_view text);

/// Functions of the package that make exceptions: `error(json)` for an error of tenon/tenon.h, and
/// `failed(state, message, kind, blame, run)` for a run (key_of_run) that has not returned a value.
void set_exception_makers(nb::object error, nb::object failed);

/// Raises the exception for an error; returns false after TENON_NOT_YET. With the lock. `error` is a reference
/// because the function may be called after the arguments of this one are evaluated.
bool check(tenon_status status, tenon_error* const& error);

/// What `str` gives of an object, as far as UTF-8 has it: for messages. Raises nothing.
[[nodiscard]] std::string shown(nb::handle object);

/// Raises the exception for a function that uses the engine which calls it.
[[noreturn]] void raise_used_within();

/// Raises InputError.
[[noreturn]] void raise_wrong_input(const std::string& message);

/// Raises the exception for a value that cannot leave its engine.
[[noreturn]] void raise_not_passed();

/// State, value, message, kind and blame.
[[nodiscard]] nb::object outcome_parts(const host::Outcome& outcome);

/// Raises the exception for a run that has failed or was cancelled. Frees the outcome.
[[noreturn]] void raise(tenon_outcome* outcome, const nb::object& run);

}  // namespace tenon::python
