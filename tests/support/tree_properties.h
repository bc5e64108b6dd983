#pragma once

#include <string>
#include <string_view>

#include "syntax/tree.h"

namespace tenon::test {

/// The tree as nested lists of node kinds and main tokens, without positions: `(File (FunctionItem:f (Parameters)
/// (Block)))`.
[[nodiscard]] std::string shape_of(const syntax::SyntaxTree& tree);

/// What is wrong with a tree whatever its text: tokens that are not the text one after the other, a node that does not
/// cover its children, siblings out of order, a height that is not the true one. Empty if nothing is.
[[nodiscard]] std::string find_tree_problem(const syntax::SyntaxTree& tree);

/// What formatting the tree's text broke: it has errors now, another shape, other comments, or changes when it is
/// formatted again. Empty if nothing is. The tree must come from a text without errors.
[[nodiscard]] std::string find_format_problem(const syntax::SyntaxTree& tree);

}  // namespace tenon::test
