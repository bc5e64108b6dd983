#pragma once

#include <string>
#include <vector>

#include "types/checked_program.h"

namespace tenon::types {

/// The definitions that decide what conditions about a value of `type` mean, each as a program would write it: the
/// structs, enums and named refinements and unions that the type consists of, with their documentation, in the order in
/// which they are mentioned.
[[nodiscard]] std::vector<std::string> definitions_of_type(const CheckedProgram& program, TypeId type);

/// The functions of the program that an expression calls, directly or through others, as they are written. Functions
/// of the standard library are not among them.
[[nodiscard]] std::vector<std::string> definitions_of_calls(const CheckedProgram& program, ModuleId module,
                                                            syntax::NodeId expression);

}  // namespace tenon::types
