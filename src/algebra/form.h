#pragma once

#include <string>

#include "algebra/artifacts.h"
#include "base/result.h"

namespace tenon::algebra {

/// The number of the form below. A form that was released is never changed; what does not fit into it gets the next
/// number.
inline constexpr std::uint32_t form_version = 1;
/// Of artifacts of several programs, one after the other: form 1 with `program`.
inline constexpr std::uint32_t form_of_several_programs = 2;

/// The form of artifacts: RFC 8785 JSON, so that equal artifacts have equal text, whoever has written it.
/// docs/internals/algebra.md lists the fields.
[[nodiscard]] std::string write_form(const Artifacts& artifacts);
/// Reads a form, also one with blanks and keys in another order. Tells of whatever is not as the form says.
[[nodiscard]] Result<Artifacts, AlgebraError> read_form(std::string_view text);

/// One entry of the form's lists; of a cycle its `u` and its `control`.
[[nodiscard]] std::string write_input(const Cycle& cycle);
[[nodiscard]] std::string write_control(const Control& control);
[[nodiscard]] std::string write_tool(const Tool& tool);
[[nodiscard]] std::string write_query(const Query& query);
[[nodiscard]] std::string write_call_result(const CallResult& result);

/// Names what a run did: the SHA-256 of its form.
[[nodiscard]] Hash hash_of(const Artifacts& artifacts);

}  // namespace tenon::algebra
