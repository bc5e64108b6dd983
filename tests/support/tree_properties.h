#pragma once

#include <string>
#include <string_view>

#include "syntax/tree.h"

namespace tenon::test {

/// The tree as nested lists of node kinds and main tokens, without positions: `(File (FunctionItem:f (Parameters)
/// (Block)))`.
[[nodiscard]] std::string shape_of(const syntax::SyntaxTree& tree);

/// Violated invariants of a tree: tokens that do not cover the text in order, a node that does not cover its children,
/// siblings out of order, a wrong height. Empty if the tree is valid.
[[nodiscard]] std::string find_tree_problem(const syntax::SyntaxTree& tree);

/// Problems of formatting the tree's text: the result has errors, another shape, other comments, or changes when it is
/// formatted again. Empty if there are none. The tree's text must not have errors.
[[nodiscard]] std::string find_format_problem(const syntax::SyntaxTree& tree);

}  // namespace tenon::test
