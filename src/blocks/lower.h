#pragma once

#include <optional>
#include <string>

#include "diagnostics/diagnostic.h"
#include "source/source_file.h"
#include "syntax/tree.h"

namespace tenon::blocks {

/// A file whose block agents (seed: Dataiku's Structured Visual Agents) have become agents of functions.
struct Lowered {
  syntax::SyntaxTree tree;  ///< refers to the file's text and to its glue
  std::string text;         ///< what it is the tree of
};

/// Nothing when no agent of the file has blocks. What is wrong with blocks is reported, at its place; the tree is good
/// enough to look for further mistakes. `file`, the one that `written` is the tree of, gets the glue.
[[nodiscard]] std::optional<Lowered> lower(const syntax::SyntaxTree& written, source::SourceFile& file,
                                           diagnostics::Diagnostics& diagnostics);

}  // namespace tenon::blocks
