#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "compiler/code_builder.h"

namespace tenon::compiler {

/// Branches, loops, parallel blocks, `select`, and handlers of failures.
class ControlCompiler : CodeBuilder {
 public:
  using CodeBuilder::CodeBuilder;

  // Expressions write their value to `to`, if that is given.
  void if_expression(NodeId node, std::optional<Register> to);
  void match(NodeId node, std::optional<Register> to);
  void select(NodeId node, std::optional<Register> to);
  void for_loop(NodeId node, std::optional<Register> to);
  void while_loop(NodeId node);
  /// A loop over the second child of `node`, whose items the first one names.
  void loop_over(NodeId node, const std::function<void()>& write);
  void parallel(NodeId node, std::optional<Register> to);
  void try_expression(NodeId node, Register to);
  void catch_expression(NodeId node, std::optional<Register> to);
  /// Jumps that are taken when the condition does not hold.
  std::vector<std::size_t> condition(NodeId node);

 private:
  void parallel_for(NodeId node, std::optional<Register> to);
};

}  // namespace tenon::compiler
