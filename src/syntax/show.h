#pragma once

#include <string>

#include "syntax/tree.h"

namespace tenon::syntax {

/// One line for each token, including trivia: its position, kind, and text in quotes. `3:5 Identifier "ctx"`. An end
/// that is missing in the text has the text `""`.
[[nodiscard]] std::string show_tokens(const SyntaxTree& tree);

/// One line for each node, children indented: its kind, start and end, its main token if that is not its first, and the
/// text of nodes without children. `FunctionItem 1:1-3:2 "main"`.
[[nodiscard]] std::string show_tree(const SyntaxTree& tree);

}  // namespace tenon::syntax
