#pragma once

#include <vector>

#include "diagnostics/diagnostic.h"
#include "source/source_file.h"
#include "syntax/token.h"

namespace tenon::syntax {

/// Makes brackets match: inserts each missing one as a token without length, and turns an unmatched one into an Unknown
/// token. The indentation of lines determines where. Reports each change, except on lines in `damage`, and adds the
/// line to `damage`, which is sorted by offset before and after. Does nothing if all brackets match.
void balance_brackets(const source::SourceFile& file, std::vector<Token>& tokens, diagnostics::Diagnostics& diagnostics,
                      std::vector<source::Span>& damage);

}  // namespace tenon::syntax
