#pragma once

#include <string>

#include "algebra/artifacts.h"
#include "base/result.h"
#include "json/writer.h"

namespace tenon::algebra {

/// The artifacts in their form: RFC 8785 JSON, so that equal artifacts have equal text.
/// docs/internals/algebra.md lists the fields.
[[nodiscard]] std::string write_form(const Artifacts& artifacts);
/// Reads a form, also one with white space or with keys in another order. Reports all deviations from the form.
[[nodiscard]] Result<Artifacts, AlgebraError> read_form(std::string_view text);

/// One entry of the form's lists; of a cycle its `u`, its `control` and its `v`.
[[nodiscard]] std::string write_input(const Cycle& cycle);
[[nodiscard]] std::string write_control(const Control& control);
/// The `v` of a cycle.
[[nodiscard]] std::string write_output(const Cycle& cycle);
[[nodiscard]] std::string write_tool(const Tool& tool);
[[nodiscard]] std::string write_query(const Query& query);
[[nodiscard]] std::string write_call_result(const CallResult& result);

// Members of an object that is being written.
/// `arguments`: values, null where one is not known.
void add_arguments(JsonWriter& out, const std::vector<std::string>& values);
/// `unknown`: the indices of values that are not known; nothing when all are.
void add_unknown(JsonWriter& out, const std::vector<std::string>& values);
/// `value`, `failure`, `discarded`, `pending`, `child` or `successor`.
void add_result(JsonWriter& out, const CallResult& result);

/// Identifies what a run did: the SHA-256 of its form.
[[nodiscard]] Hash hash_of(const Artifacts& artifacts);
/// The hash with the number of its form: `3:9f86…`. Hashes of different forms cannot be compared.
[[nodiscard]] std::string name_of(const Artifacts& artifacts);

}  // namespace tenon::algebra
