#pragma once

#include <span>

#include "types/checked_program.h"

namespace tenon::bytecode {

/// Whether the node, which stands in a contract of the function, names one of its parameters at these positions.
[[nodiscard]] bool names_any(const types::CheckedProgram& program, const types::FunctionDeclaration& function,
                             syntax::NodeId node, std::span<const std::uint16_t> parameters);

/// Whether the contract is computed, and of arguments alone that are given in a call whose parameters at the positions
/// `holes` are missing: then it can be tried before a model is asked for these.
[[nodiscard]] bool is_early(const types::CheckedProgram& program, const types::FunctionDeclaration& function,
                            const types::Contract& contract, std::span<const std::uint16_t> holes);

}  // namespace tenon::bytecode
