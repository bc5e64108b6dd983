#pragma once

#include <optional>
#include <vector>

#include "compiler/code_builder.h"

namespace tenon::compiler {

/// What models are shown of contracts.
class RequirementCompiler : CodeBuilder {
 public:
  using CodeBuilder::CodeBuilder;

  void inject_requirements();
  void describe_subject(std::optional<Register> value, Register to);
  [[nodiscard]] std::optional<std::size_t> jump_if_empty(NodeId node, Register text);
  void or_code(std::size_t begin, NodeId node, Register to);

 private:
  void text_before_value(const types::Contract& contract, Register to);
  void list_terms(NodeId node, std::vector<NodeId>& terms);
  void show_term(NodeId term, Register to);
  [[nodiscard]] bool can_show_before_value(NodeId text) const;
};

}  // namespace tenon::compiler
