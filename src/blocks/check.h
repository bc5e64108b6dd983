#pragma once

#include "blocks/model.h"
#include "diagnostics/diagnostic.h"

namespace tenon::blocks {

/// Reports what is wrong with an agent's blocks and transitions: what the types of the lowered agent cannot tell.
void check(const syntax::SyntaxTree& tree, const BlockAgent& agent, diagnostics::Diagnostics& diagnostics);

}  // namespace tenon::blocks
