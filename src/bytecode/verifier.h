#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "bytecode/program.h"

namespace tenon::bytecode {

/// One text constant's length in bytes: that of a String at run time.
inline constexpr std::size_t constant_bytes_max = 256U * 1024U * 1024U;

/// The first thing that no compiled program does.
struct VerifyError {
  std::string function;  ///< its name; empty when it is about the program as a whole
  std::uint32_t pc = 0;  ///< the instruction, when it is about a function
  std::string message;
};
[[nodiscard]] std::string describe(const VerifyError& error);

/// Whether the interpreter may run the program without checking what instructions refer to: registers, windows, jumps,
/// tables, types. What a register holds is checked at run time.
[[nodiscard]] Result<void, VerifyError> verify(const Program& program);

}  // namespace tenon::bytecode
