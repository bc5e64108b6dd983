#pragma once

#include "syntax/parser.h"

namespace tenon::syntax {

// Expressions with several branches.

void parse_if(Parser& p);
void parse_match(Parser& p);
void parse_select(Parser& p);
void parse_parallel(Parser& p);
[[nodiscard]] bool at_pursue(const Parser& p);
void parse_pursue(Parser& p);
[[nodiscard]] bool at_tools(const Parser& p);
void parse_tools(Parser& p);

}  // namespace tenon::syntax
