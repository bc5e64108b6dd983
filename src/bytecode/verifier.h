#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "bytecode/program.h"

namespace tenon::bytecode {

/// The maximum length of a string constant in bytes: that of a String at run time.
inline constexpr std::size_t constant_bytes_max = 256U * 1024U * 1024U;

/// The first violation that no compiled program contains.
struct VerifyError {
  std::string function;  ///< its name; empty if the error is about the program as a whole
  std::uint32_t pc = 0;  ///< the instruction, if the error is about a function
  std::string message;
};
[[nodiscard]] std::string describe(const VerifyError& error);

/// Whether the interpreter can run the program without checking the references of instructions: registers, windows,
/// jumps, tables, types. The contents of registers are checked at run time.
[[nodiscard]] Result<void, VerifyError> verify(const Program& program);

}  // namespace tenon::bytecode
