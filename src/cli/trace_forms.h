#pragma once

#include <string>

#include "algebra/artifacts.h"

namespace tenon::cli {

/// One of the forms of `trace artifacts --form`, but `npz`, as JSON.
[[nodiscard]] std::string write_form(const algebra::Artifacts& artifacts, const std::string& form);

/// The calls as a tree for the terminal: a line for each, the entries that the model saw below it, each entry once.
[[nodiscard]] std::string draw_calls(const algebra::Interaction& interaction);

}  // namespace tenon::cli
