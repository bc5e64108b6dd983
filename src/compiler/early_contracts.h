#pragma once

#include <span>

#include "types/checked_program.h"

namespace tenon::compiler {

/// Whether the node, which is part of a contract of the function, mentions one of the parameters at these positions.
[[nodiscard]] bool names_any(const types::CheckedProgram& program, const types::FunctionDeclaration& function,
                             syntax::NodeId node, std::span<const std::uint16_t> parameters);

/// Whether the contract is computed only from given arguments in a call whose parameters at the positions `holes` are
/// missing: then it can be checked before a model supplies these.
[[nodiscard]] bool is_early(const types::CheckedProgram& program, const types::FunctionDeclaration& function,
                            const types::Contract& contract, std::span<const std::uint16_t> holes);

}  // namespace tenon::compiler
