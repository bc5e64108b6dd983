#pragma once

#include "diagnostics/diagnostic.h"
#include "types/checked_program.h"

namespace tenon::types {

/// Removes what the checker has reported because of an error of the lexer or parser: errors within the damage of a file
/// (syntax/damage.h), errors about names that it declares or would declare, and errors that need all of a declaration
/// of which a part is damaged. Other errors of the same file are kept. Among errors with the same text, which names
/// their cause, such as a field that a type does not have, the first two are kept.
void drop_consequences(const CheckedProgram& program, diagnostics::Diagnostics& diagnostics);

}  // namespace tenon::types
