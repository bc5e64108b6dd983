#pragma once

#include <optional>
#include <vector>

#include "compiler/code_builder.h"

namespace tenon::compiler {

/// What models are shown of contracts.
class RequirementCompiler : CodeBuilder {
 public:
  using CodeBuilder::CodeBuilder;

  /// Shows the model what its value must satisfy: one entry for each `ensures`, which is sent through the prompt
  /// template of that name. An expression is shown as written, with the values of its parameters.
  void inject_requirements();
  /// to = what is judged, in words: the function, its arguments and the value, without contexts, tools and secrets.
  void describe_subject(std::optional<Register> value, Register to);
  /// The jump that is taken if the text of the node is empty or blank; none if it is known not to be.
  [[nodiscard]] std::optional<std::size_t> jump_if_blank(NodeId node, Register text);
  /// to = what was computed from `begin` on or, if that fails, the code of the node.
  void or_code(std::size_t begin, NodeId node, Register to);

 private:
  void text_before_value(const types::Contract& contract, Register to);
  void list_terms(NodeId node, std::vector<NodeId>& terms);
  void show_term(NodeId term, Register to);
  [[nodiscard]] bool can_show_before_value(NodeId text) const;
};

}  // namespace tenon::compiler
