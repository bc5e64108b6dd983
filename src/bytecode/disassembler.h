#pragma once

#include <string>

#include "bytecode/program.h"

namespace tenon::bytecode {

/// The program's code for people: each function with its instructions by the names of the instruction table, and with
/// constants, callees, types and jump targets resolved. An invalid reference is shown as such, so a program that the
/// verifier rejects can be disassembled too.
[[nodiscard]] std::string disassemble(const Program& program);
[[nodiscard]] std::string disassemble(const Program& program, const Function& function);

}  // namespace tenon::bytecode
