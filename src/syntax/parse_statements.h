#pragma once

#include "syntax/parser.h"

namespace tenon::syntax {

void parse_block(Parser& p);
/// A block after its opening brace.
void parse_block_rest(Parser& p, Mark mark, TokenIndex opening);
/// Up to the closing brace, or the `->` after the statements of an agent's block.
void parse_statements(Parser& p);
void parse_let(Parser& p);
void parse_for(Parser& p);
/// The condition of `if` and `while`: an expression, or `let pattern = expression`.
void parse_condition(Parser& p);

}  // namespace tenon::syntax
