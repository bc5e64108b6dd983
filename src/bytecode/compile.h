#pragma once

#include "bytecode/program.h"
#include "diagnostics/diagnostic.h"
#include "types/checked_program.h"

namespace tenon::bytecode {

/// Instances of one generic function: one that calls itself with ever larger types ends here.
inline constexpr std::size_t function_instances_max = 500;

/// The program as the machine runs it. `checked` has no errors. What cannot be compiled all the same (a program past
/// its limits, a script that is not constant) is reported, and the result is then not to be run.
[[nodiscard]] Program compile(const types::CheckedProgram& checked, diagnostics::Diagnostics& diagnostics);

}  // namespace tenon::bytecode
