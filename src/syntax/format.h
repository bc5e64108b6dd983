#pragma once

#include <string>

#include "syntax/tree.h"

namespace tenon::syntax {

/// Lines end before this column if the language allows a break.
inline constexpr std::size_t line_width_max = 100;

/// The text of the file in the layout of `tenon fmt`: four spaces per level, one statement per line, spaces around
/// operators. Formatting the result again does not change it. The tree's text must not have errors.
///
/// - A list in brackets (arguments, parameters, items, fields, types) stays on one line if it fits. Otherwise each
///   element has its own line and a trailing comma. A last argument that is a closure with a block, a `match` or
///   similar starts on the line of the call.
///
/// - A list in braces (a block of one statement, the cases of a `match`, the fields of a `struct`) stays on one line
///   if the author wrote it on the line of its `{` and it fits. Otherwise each element has its own line.
///
/// - An agent's blocks are surrounded by empty lines, and each of their parts has its own line.
/// - Long sums, comparisons and method chains are broken before each operator, or after a `-`, which would otherwise
///   start a statement.
/// - All comments are kept, and one of several consecutive blank lines. The texts of strings do not change.
///   This includes their templates.
/// - No `;` is added or removed, no commas except trailing ones, and nothing is sorted.
[[nodiscard]] std::string format(const SyntaxTree& tree);

}  // namespace tenon::syntax
