#pragma once

#include <string>

#include "bytecode/program.h"

namespace tenon::bytecode {

/// Whether the function is one of the modules `std::…`.
[[nodiscard]] bool is_of_library(const Program& program, const Function& function);

/// The name under which people and scripts know a function whose value a model gives. One that contracts, `pursue` or
/// plans call, such as `judge`, has no type arguments in it: the program has not written them.
[[nodiscard]] std::string shown_name(const Program& program, const Function& function);

}  // namespace tenon::bytecode
