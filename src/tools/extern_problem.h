#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <type_traits>

#include "bytecode/program.h"
#include "diagnostics/diagnostic.h"

namespace tenon::tools {

/// Why a program's externs cannot be called; found before the program starts. Its span has no file: a compiled program
/// has places, and a library has none.
struct ExternProblem : diagnostics::Diagnostic {
  std::optional<bytecode::Place> place;  ///< of the declaration; none for what concerns a library
  std::optional<std::uint32_t> subject;  ///< the declaration, an index into Program::externs
};

template <class... Arguments>
[[nodiscard]] ExternProblem make_problem(const diagnostics::DiagnosticKind<Arguments...>& kind,
                                         const std::type_identity_t<Arguments>&... arguments) {
  const fmt::string_view message = kind.message;
  return {{kind.code, {}, fmt::vformat(message, fmt::make_format_args(arguments...)), {}, {}, {}}, {}, {}};
}

}  // namespace tenon::tools
