#pragma once

#include "bytecode/program.h"
#include "diagnostics/diagnostic.h"
#include "types/checked_program.h"

namespace tenon::compiler {

/// The maximum number of instances of one generic function: stops one that calls itself with ever larger types.
inline constexpr std::size_t function_instances_max = 500;

/// The program as the machine runs it. `checked` must not have errors. What still cannot be compiled (a program beyond
/// its limits, a script that is not constant) is reported, and the result must not be run.
[[nodiscard]] bytecode::Program compile(const types::CheckedProgram& checked, diagnostics::Diagnostics& diagnostics);

}  // namespace tenon::compiler
