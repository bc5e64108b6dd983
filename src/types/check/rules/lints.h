#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "types/check/bodies/body_part.h"

namespace tenon::types {

/// What a function does with its own context at a node.
struct ContextStep {
  enum class Kind : std::uint8_t { Inject, Written, View, Hole, LoopStart, LoopEnd } kind;
  syntax::NodeId node;
};

/// Warns of code that is allowed but most likely a mistake, once a body has no errors.
class Lints : public BodyPart {
 public:
  using BodyPart::BodyPart;

  void lint_function();
  /// The part of it that concerns an agent's instructions, whose injections are seen in its turns.
  void lint_texts();

 private:
  [[nodiscard]] bool is_unreachable(NodeId node) const;
  void lint_other_contexts(NodeId block, std::uint32_t own);
  void lint_injections(std::span<const ContextStep> steps);
  void lint_duplicates(NodeId block);
  void lint_holes(std::span<const ContextStep> steps);
  void lint_hole(NodeId hole, const Target& target, std::size_t position, std::string_view known);
};

}  // namespace tenon::types
