#pragma once

#include <string>

#include "algebra/artifacts.h"

namespace tenon::cli {

/// A form of `trace artifacts --form` as JSON, except `npz`.
[[nodiscard]] std::string write_form(const algebra::Artifacts& artifacts, const std::string& form);

/// The calls as a tree for the terminal, one per line, with the entries that the model saw below, each entry once.
[[nodiscard]] std::string draw_calls(const algebra::Interaction& interaction);

}  // namespace tenon::cli
