#pragma once

#include <vector>

#include "diagnostics/diagnostic.h"
#include "source/source_file.h"
#include "syntax/token.h"

namespace tenon::syntax {

/// Strings inside templates inside strings: deeper ones are read as plain text.
inline constexpr std::size_t template_depth_max = 32;

/// All tokens of a file, trivia too, in order and without gaps, with `End` last. Any bytes will do: what is no token
/// becomes `Unknown` and is reported. Each StringStart has its StringEnd, each TemplateStart its TemplateEnd: where the
/// text lacks one, which is reported, it has no length.
[[nodiscard]] std::vector<Token> lex(const source::SourceFile& file, diagnostics::Diagnostics& diagnostics);

}  // namespace tenon::syntax
