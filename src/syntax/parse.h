#pragma once

#include "diagnostics/diagnostic.h"
#include "source/source_file.h"
#include "syntax/tree.h"

namespace tenon::syntax {

/// Reads a file. Any text gives a tree: what could not be understood is in `Error` nodes and has been reported. The
/// tree refers to `file`, which must outlive it.
[[nodiscard]] SyntaxTree parse(const source::SourceFile& file, diagnostics::Diagnostics& diagnostics);

}  // namespace tenon::syntax
