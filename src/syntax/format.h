#pragma once

#include <string>

#include "syntax/tree.h"

namespace tenon::syntax {

/// Lines are broken so as to end before this column, where the language allows it.
inline constexpr std::size_t line_width_max = 100;

/// The file's text in the one layout that `tenon fmt` gives: four spaces a level, one statement a line, spaces around
/// operators. Formatting the result again changes nothing. The tree must come from a text without errors.
///
/// - Lists in brackets (arguments, parameters, items, fields, types) stay on one line if they fit; else each element
/// has a line
///   and a trailing comma. A last argument that is a closure with a block, a `match` or the like begins on the call's
///   line.
/// - What stands in braces (a block of one statement, the cases of a `match`, the fields of a `struct`) stays on one
/// line if the
///   author wrote it on the line of its `{` and it fits; else each element has a line.
/// - An agent's blocks have an empty line around them, their parts a line each.
/// - Long sums, comparisons and chains of methods are broken before each operator, or behind a `-`, which would begin a
///   statement.
/// - All comments are kept, and one of several blank lines. The texts of strings stay as they are written, templates
/// included.
/// - No `;` is added or dropped, no comma but trailing ones, and nothing is sorted.
[[nodiscard]] std::string format(const SyntaxTree& tree);

}  // namespace tenon::syntax
