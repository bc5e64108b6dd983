#pragma once

#include <optional>

#include "compiler/code_builder.h"

namespace tenon::compiler {

/// Blocks and statements.
class StatementCompiler : CodeBuilder {
 public:
  using CodeBuilder::CodeBuilder;

  void block(NodeId node, std::optional<Register> to);
  void body(NodeId node, std::optional<Register> to);

 private:
  void statement(NodeId node);
  void let(NodeId node);
  void inject(NodeId value);
};

}  // namespace tenon::compiler
