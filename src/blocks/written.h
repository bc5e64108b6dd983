#pragma once

#include <string>
#include <vector>

#include "blocks/model.h"

namespace tenon::blocks {

/// An entry of `state` or `scratchpad` that blocks change.
struct WrittenEntry {
  std::string owner, name;
  syntax::NodeId type;   ///< as it is declared
  syntax::NodeId place;  ///< where it is changed first
};

/// What the blocks of a sequence change, with those nested in them and with the agent's functions that they name; by
/// owner and name. As far as the text shows it: assignments, methods that change what they are called on, `into`
/// and `write`.
[[nodiscard]] std::vector<WrittenEntry> find_written(const syntax::SyntaxTree& tree, const BlockAgent& agent,
                                                     const Sequence& sequence);

}  // namespace tenon::blocks
