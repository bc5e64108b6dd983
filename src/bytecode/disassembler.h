#pragma once

#include <string>

#include "bytecode/program.h"

namespace tenon::bytecode {

/// The program's code for people: each function with its instructions in the names of the instruction table, constants,
/// callees, types and jump targets by what they are. What refers to nothing is shown as such, so a program that the
/// verifier refuses can be looked at too.
[[nodiscard]] std::string disassemble(const Program& program);
[[nodiscard]] std::string disassemble(const Program& program, const Function& function);

}  // namespace tenon::bytecode
