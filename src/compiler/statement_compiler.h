#pragma once

#include <optional>

#include "compiler/code_builder.h"

namespace tenon::compiler {

/// Blocks and statements.
class StatementCompiler : CodeBuilder {
 public:
  using CodeBuilder::CodeBuilder;

  /// The statements of a block; `to` = its value, if that is given.
  void block(NodeId node, std::optional<Register> to);
  /// The same for a body after `=>`, which need not be a block.
  void body(NodeId node, std::optional<Register> to);

 private:
  void statement(NodeId node);
  void let(NodeId node);
  void inject(NodeId value);
};

}  // namespace tenon::compiler
