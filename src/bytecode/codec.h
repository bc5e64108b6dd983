#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "bytecode/program.h"

namespace tenon::bytecode {

/// The maximum number of types that instructions can refer to.
inline constexpr std::uint32_t types_max = 65'535;
/// The maximum number of literal unions and of refinements in one program.
inline constexpr std::uint32_t unions_max = 8'192;

struct DecodeError {
  std::string message;
};

/// The program as bytes: numbered fields (base/wire.h, docs/internals/vm.md). Equal programs have equal bytes.
[[nodiscard]] std::string encode(const Program& program);

/// Decodes and verifies a program. Any bytes result in a program that has passed the verifier, or in an error; memory
/// use is proportional to the number of bytes.
[[nodiscard]] Result<Program, DecodeError> decode(std::string_view bytes);

}  // namespace tenon::bytecode
