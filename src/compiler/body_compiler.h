#pragma once

#include "compiler/code_builder.h"

namespace tenon::compiler {

/// A function that is written in the program: its `requires`, its body, and the check of what it returns.
class BodyCompiler : CodeBuilder {
 public:
  using CodeBuilder::CodeBuilder;

  /// Writes the whole function.
  void compile();

 private:
  void shelter_arguments(NodeId body);
};

}  // namespace tenon::compiler
