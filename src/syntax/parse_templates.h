#pragma once

#include "syntax/parser.h"

namespace tenon::syntax {

// Strings, with the templates in them.

void parse_string(Parser& p);
/// Whether `if` or `for`, whose condition or list has just been read, is the head of a section: `{{ if c }}`. Then its
/// children become those of the section.
bool heads_section(Parser& p, Mark mark, NodeKind kind);

}  // namespace tenon::syntax
