#pragma once

#include "diagnostics/diagnostic.h"
#include "types/checked_program.h"

namespace tenon::types {

/// Removes what the checker has reported because of an error of the lexer or parser: everything about a declaration in
/// which there is one (syntax/damage.h), and errors about names that such a declaration declares or would declare. Of
/// an agent or an `impl`, only the function is concerned that contains the error, if one does. Other errors of the same
/// file are kept. Among errors with the same text, which names their cause, such as a field that a type does not have,
/// the first two are kept; of those at one place, the first.
void drop_consequences(const CheckedProgram& program, diagnostics::Diagnostics& diagnostics);

}  // namespace tenon::types
