#pragma once

#include <vector>

#include "diagnostics/diagnostic.h"
#include "source/source_file.h"
#include "syntax/token.h"

namespace tenon::syntax {

/// The maximum nesting of strings in templates in strings; deeper ones are read as plain text.
inline constexpr std::size_t template_depth_max = 32;

/// All tokens of a file in order and without gaps, including trivia, ending with `End`. Accepts any bytes: invalid text
/// becomes `Unknown` and is reported. Each StringStart has a StringEnd, each TemplateStart a TemplateEnd: if it is
/// missing in the text, which is reported, its length is 0.
[[nodiscard]] std::vector<Token> lex(const source::SourceFile& file, diagnostics::Diagnostics& diagnostics);

}  // namespace tenon::syntax
