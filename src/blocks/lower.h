#pragma once

#include <optional>
#include <string>

#include "diagnostics/diagnostic.h"
#include "source/source_file.h"
#include "syntax/tree.h"

namespace tenon::blocks {

/// A file whose block agents (modelled on Dataiku's Structured Visual Agents) were replaced by agents of functions.
struct Lowered {
  syntax::SyntaxTree tree;  ///< refers to the file's text and to its glue
  std::string text;         ///< that was parsed
};

/// Returns nothing if no agent of the file has blocks. Reports problems of blocks at their locations; the tree is still
/// usable for further checks. `written` is the tree of `file`, to which the glue is added.
[[nodiscard]] std::optional<Lowered> lower(const syntax::SyntaxTree& written, source::SourceFile& file,
                                           diagnostics::Diagnostics& diagnostics);

}  // namespace tenon::blocks
