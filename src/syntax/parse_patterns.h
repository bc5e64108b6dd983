#pragma once

#include "syntax/parser.h"

namespace tenon::syntax {

void parse_pattern(Parser& p);
/// A pattern without alternatives `a | b`.
void parse_pattern_operand(Parser& p);

}  // namespace tenon::syntax
