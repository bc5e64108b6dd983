#pragma once

#include "blocks/model.h"
#include "diagnostics/diagnostic.h"

namespace tenon::blocks {

/// Reports the problems of an agent's blocks and edges that checking the types of the lowered agent does not show.
void check(const syntax::SyntaxTree& tree, const BlockAgent& agent, diagnostics::Diagnostics& diagnostics);

}  // namespace tenon::blocks
