#pragma once

#include <vector>

#include "compiler/code_builder.h"

namespace tenon::compiler {

/// The parts of a contract that are separate functions.
class GuardCompiler : CodeBuilder {
 public:
  using CodeBuilder::CodeBuilder;

  /// Part::Guard: why an action of `pursue` is not available, and what a judge must evaluate.
  void guard();
  /// Part::Ensured: the keys that `pursue` need not judge for the state that an action has produced.
  void ensured();
  /// Part::Violations: what a model is shown of a value that violates the `ensures`.
  void violations();
  /// Part::Held: fails if a value violates the contract.
  void held();
  /// Part::Early: the conditions of `requires` that do not depend on the holes of a call.
  void early();
  /// Part::StreamGuard: whether an answer that starts like this can still satisfy the contract.
  void stream_guard();
  /// Calls Part::Early of the callee, if it has such conditions. The given arguments are in the window.
  void check_early(NodeId node, const CallShape& shape, Register window);
  /// Whether the function has conditions that can be checked while an answer is generated.
  [[nodiscard]] bool has_stream_guard() const;

 private:
  Register take_result();
  void key_of_contract(const types::Contract& contract, Register text, Register to);
  void list_lasting(NodeId condition, types::LocalId value, std::vector<NodeId>& parts) const;
  [[nodiscard]] bool is_lasting(NodeId condition, types::LocalId value) const;
  [[nodiscard]] std::vector<NodeId> lasting_parts(const types::Contract& contract) const;
};

}  // namespace tenon::compiler
