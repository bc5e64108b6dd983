#pragma once

#include "diagnostics/diagnostic.h"
#include "source/source_file.h"
#include "syntax/tree.h"

namespace tenon::syntax {

/// Parses a file. Any text results in a tree: invalid parts are `Error` nodes and have been reported. The tree refers
/// to `file`, which must outlive it.
[[nodiscard]] SyntaxTree parse(const source::SourceFile& file, diagnostics::Diagnostics& diagnostics);

}  // namespace tenon::syntax
