#pragma once

#include <vector>

#include "compiler/code_builder.h"

namespace tenon::compiler {

/// The parts of a contract that are separate functions.
class GuardCompiler : CodeBuilder {
 public:
  using CodeBuilder::CodeBuilder;

  void guard();
  void ensured();
  void early();
  void stream_guard();
  void check_early(NodeId node, const CallShape& shape, Register window);
  [[nodiscard]] bool has_stream_guard() const;

 private:
  void key_of_contract(const types::Contract& contract, Register text, Register to);
  void list_lasting(NodeId condition, types::LocalId value, std::vector<NodeId>& parts) const;
  [[nodiscard]] bool is_lasting(NodeId condition, types::LocalId value) const;
  [[nodiscard]] std::vector<NodeId> lasting_parts(const types::Contract& contract) const;
};

}  // namespace tenon::compiler
