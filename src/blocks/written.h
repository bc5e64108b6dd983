#pragma once

#include <string>
#include <vector>

#include "blocks/model.h"

namespace tenon::blocks {

/// A field of `state` or `scratchpad` that blocks change.
struct WrittenField {
  std::string owner, name;
  syntax::NodeId type;   ///< as it is declared
  syntax::NodeId place;  ///< where it is first changed
};

/// The fields that the blocks of a sequence change, including nested blocks and the agent's functions that they name;
/// sorted by owner and name. Considers what is visible in the text: assignments, methods that change their receiver,
/// `into` and `write`.
[[nodiscard]] std::vector<WrittenField> find_written(const syntax::SyntaxTree& tree, const BlockAgent& agent,
                                                     const Sequence& sequence);

}  // namespace tenon::blocks
