#pragma once

#include <string>

#include "algebra/artifacts.h"

namespace tenon::algebra {

/// The artifacts in a form that follows from them, as JSON: `m`, `mu`, `J`, `S`, `Sigma`, `sigma`, `theta`, `rho`, `R`.
/// Any other name is their own form.
[[nodiscard]] std::string write_form(const Artifacts& artifacts, const std::string& form);

/// The artifacts with their values as people write them: in a program's arguments, as an answer, in `--input`. Where a
/// value's type is not known, and where it contains a Context, it stays as it is on record.
[[nodiscard]] Artifacts in_plain_form(const Interaction& interaction);

/// The calls as a tree for people, one per line, with the number of the record of its outcome where there is one, and
/// with the entries that the model saw below, each entry once.
[[nodiscard]] std::string draw_calls(const Interaction& interaction);

}  // namespace tenon::algebra
