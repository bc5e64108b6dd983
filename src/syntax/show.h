#pragma once

#include <string>

#include "syntax/tree.h"

namespace tenon::syntax {

/// One line for each token, trivia too: where it begins, its kind, its text in quotes. `3:5 Identifier "ctx"`. An end
/// that the text lacks has the text `""`.
[[nodiscard]] std::string show_tokens(const SyntaxTree& tree);

/// One line for each node, children further in: its kind, from where to where it goes, its main token where it has one
/// that is not just its first, and the text of nodes without children. `FunctionItem 1:1-3:2 "main"`.
[[nodiscard]] std::string show_tree(const SyntaxTree& tree);

}  // namespace tenon::syntax
