#pragma once

#include <optional>
#include <vector>

#include "compiler/code_builder.h"
#include "compiler/expression_compiler.h"

namespace tenon::compiler {

/// `assert`.
class AssertionCompiler : CodeBuilder {
 public:
  using CodeBuilder::CodeBuilder;

  /// Fails unless the condition holds. Conditions that are joined by `&&` are asserted one after the other.
  void assertion(NodeId condition);

 private:
  /// A value that the message of a failed `assert` shows, and the code that it is of.
  struct Shown {
    NodeId node;
    std::optional<Register> value;  ///< if absent, it is computed again
  };
  struct Observed {
    std::optional<Sides> sides;  ///< if the condition is a comparison: of `node`
    NodeId node;
    std::vector<Shown> shown;
  };

  Observed observe(NodeId condition, Register to, bool expected);
  Observed observe_logic(NodeId condition, Register to, bool expected);
  Observed observe_method(NodeId call, Register to);
  void add_choice(NodeId condition, std::vector<Shown>& shown);
  void add_operand_paths(NodeId node, std::vector<Shown>& shown);
  void add_argument_paths(NodeId call, std::vector<Shown>& shown);
  void explain_assertion(NodeId condition, const Observed& observed);
  [[nodiscard]] bool is_worth_showing(NodeId node);
  [[nodiscard]] bool is_path(NodeId node) const;
};

}  // namespace tenon::compiler
