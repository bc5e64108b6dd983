#pragma once

#include "syntax/parser.h"

namespace tenon::syntax {

void parse_type(Parser& p);
/// A type without a range, a length or a pattern.
void parse_type_operand(Parser& p);
/// `<A, B>` of a call, which `at_type_arguments` has found.
void parse_type_arguments(Parser& p);
/// Types and the bracket `close`; the opening bracket has been read.
void parse_types_until(Parser& p, TokenKind close);

}  // namespace tenon::syntax
