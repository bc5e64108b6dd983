#pragma once

#include <cstdint>
#include <vector>

#include "types/checked_program.h"

namespace tenon::types {

/// The functions of the language that want something from the world: externs that the runtime itself performs. They
/// are found where a program declares nothing of their name.
[[nodiscard]] std::vector<ExternDeclaration> make_builtin_effects(TypeTable& types);

}  // namespace tenon::types
