#pragma once

#include "syntax/parser.h"

namespace tenon::syntax {

/// All items up to the end of the file.
NodeId parse_file(Parser& p);
/// Whether a declaration starts here that is not indented further than the current one. The sections of an agent are
/// declarations inside it.
[[nodiscard]] bool at_declaration(const Parser& p);
[[nodiscard]] bool at_item_start(const Parser& p);
/// Reads nothing if no item starts here.
void parse_item(Parser& p);
/// Whether `model { … }`, `extern { … }` or `person { … }` of a test begins here.
[[nodiscard]] bool at_script_section(const Parser& p);
/// The answers in one of these, or `person => …`.
void parse_script_section(Parser& p);
/// `secret` before the name of a field or a parameter, unless it is that name.
[[nodiscard]] bool at_secret(const Parser& p);
void accept_secret(Parser& p);

}  // namespace tenon::syntax
