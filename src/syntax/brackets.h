#pragma once

#include <vector>

#include "diagnostics/diagnostic.h"
#include "source/source_file.h"
#include "syntax/token.h"

namespace tenon::syntax {

/// Makes brackets pair up: adds each missing one as a token without length, and turns one that has no partner into an
/// Unknown token. The indentation of lines decides where. Reports each change, except on lines in `damage`, and adds
/// the line to `damage`, which is sorted by offset before and after. Does nothing to a file whose brackets pair up.
void balance_brackets(const source::SourceFile& file, std::vector<Token>& tokens, diagnostics::Diagnostics& diagnostics,
                      std::vector<source::Span>& damage);

}  // namespace tenon::syntax
