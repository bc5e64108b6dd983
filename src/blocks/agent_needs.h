#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "blocks/model.h"

namespace tenon::blocks {

/// Parts of the lowered agent that only some agents need.
struct Needs {
  bool edits = false;      ///< the model sees an edited conversation
  bool tools = false;      ///< a core loop with tools, which ends with an answer
  bool judgement = false;  ///< a condition that a model decides
  bool critique = false;   ///< a reflect block
};

/// Where a sequence is.
enum class Place : std::uint8_t { Main, AroundTurn, Nested };

[[nodiscard]] Needs find_needs(const syntax::SyntaxTree& tree, const BlockAgent& agent);
/// Whether the model decides on the condition of an edge.
[[nodiscard]] bool is_judged_by_model(const syntax::SyntaxTree& tree, syntax::NodeId clause);
/// Whether a handoff has to run `post_turn` itself: the block that runs it otherwise comes after the other agent's
/// turn.
[[nodiscard]] bool has_handoff_before_post_turn(const syntax::SyntaxTree& tree, const BlockAgent& agent);
/// Whether the block can emit text.
[[nodiscard]] bool can_emit(const syntax::SyntaxTree& tree, const Block& block);
/// The blocks that are reached from a single block, which leads to no other: they directly follow it, without a
/// dispatch.
[[nodiscard]] std::set<std::string> find_followers(const syntax::SyntaxTree& tree, const BlockAgent& agent,
                                                   const Sequence& sequence, Place place);

}  // namespace tenon::blocks
