#pragma once

#include <cstddef>

#include "bytecode/program.h"

namespace tenon::bytecode {

/// How many registers from operand `a` on an instruction with a window there (Operand::Window) writes or clears. Of the
/// call of a function, its result alone: what is above that is dead after it.
[[nodiscard]] std::size_t written_window(const Program& program, Instruction instruction);

}  // namespace tenon::bytecode
