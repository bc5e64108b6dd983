#pragma once

#include <cstddef>

#include "syntax/parser.h"

namespace tenon::syntax {

[[nodiscard]] bool at_expression_start(const Parser& p);
/// Whether a continuation of an expression is `ahead` tokens further: `catch e {` or `finally {`.
[[nodiscard]] bool at_expression_tail(const Parser& p, std::size_t ahead);
/// Whether the brace here starts the fields of a struct, and not a block.
[[nodiscard]] bool at_struct_fields(const Parser& p);
void parse_expression(Parser& p);
/// Before a block: its brace does not start the fields of a struct.
void parse_expression_without_struct_literals(Parser& p);
/// An element of a list in brackets, where an injection `…!` is reported.
void parse_element_expression(Parser& p);
/// The range of a refined type. Its bounds contain no comparison, because `>` can end a list of types.
void parse_range_bounds(Parser& p);
void parse_prefix(Parser& p);
void parse_postfix(Parser& p);
void parse_list(Parser& p);
void parse_arguments(Parser& p);
/// Skips and reports the `!` of an injection inside an expression. Returns false if there is none.
bool reject_injection(Parser& p);

}  // namespace tenon::syntax
