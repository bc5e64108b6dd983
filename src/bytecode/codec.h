#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "bytecode/program.h"

namespace tenon::bytecode {

/// A program of more types than that cannot name them in its instructions.
inline constexpr std::uint32_t types_max = 65'535;
/// Literal unions, and refinements, of one program.
inline constexpr std::uint32_t unions_max = 8'192;

struct DecodeError {
  std::string message;
};

/// The program as bytes: numbered fields (base/wire.h, docs/internals/vm.md). Equal programs give equal bytes.
[[nodiscard]] std::string encode(const Program& program);

/// Reads and verifies a program. Bytes of any kind are answered with a program that the verifier has passed, or an
/// error; memory stays in proportion to their number.
[[nodiscard]] Result<Program, DecodeError> decode(std::string_view bytes);

}  // namespace tenon::bytecode
