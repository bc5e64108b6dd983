#pragma once

#include <cstdint>
#include <vector>

#include "types/checked_program.h"

namespace tenon::types {

/// The functions of the language that have effects: externs that the runtime itself performs. They are found if a
/// program does not declare anything with their name.
[[nodiscard]] std::vector<ExternDeclaration> make_builtin_effects(TypeTable& types);

}  // namespace tenon::types
