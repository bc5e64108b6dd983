#pragma once

#include <string_view>

#include "syntax/parser.h"

namespace tenon::syntax {

// Syntax of other languages: reported once, with the equivalent in this one.

/// Whether a word of another language is followed by a name or a string on its line, as in no expression.
[[nodiscard]] bool at_foreign_statement(const Parser& p);
void parse_foreign_statement(Parser& p);
/// `var x = 1`
[[nodiscard]] bool at_foreign_let(const Parser& p);
void parse_foreign_let(Parser& p);
/// `loop { … }`
[[nodiscard]] bool at_loop(const Parser& p);
void parse_loop(Parser& p);
/// `f"…"`
[[nodiscard]] bool at_text_prefix(const Parser& p);
void parse_prefixed_text(Parser& p);

// The functions `reject_…` read nothing and return false if the text is not what they look for.

/// `1 === 1`, `2 ** 3`, `i++` after the first operator: continues as if the second were not there.
void reject_repeated_operator(Parser& p);
/// `x: i32 = 3` in the parameters of a function, after the type.
void reject_default(Parser& p);
/// `fn f(): i32` after the parameters: the colon is read as an arrow.
void reject_return_colon(Parser& p);
/// `i32[]` after the element's type, which follows the mark.
void reject_array_type(Parser& p, Mark type);
/// `x => x + 1` as an argument, after the parameters, which follow the mark.
bool reject_arrow_closure(Parser& p, Mark parameters);
/// `let mut x`: the word is skipped.
void reject_mut(Parser& p);
/// `if a = b {`: continues as if it were a comparison.
void reject_assignment(Parser& p, Mark condition);
/// `Point { 1, 2 }` after its name, which follows the mark.
bool reject_unnamed_fields(Parser& p, Mark name);
/// `format!(…)` after its name, which follows the mark.
bool reject_macro(Parser& p, Mark name);
/// `retrun 5`: a statement that starts with a word similar to a keyword.
bool reject_misspelt_keyword(Parser& p, Mark statement);
/// `Rect { w: f64 }` in an enum: the types are read as those of `Rect(f64)`.
void reject_named_values(Parser& p, std::string_view name);

}  // namespace tenon::syntax
