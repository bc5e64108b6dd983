#pragma once

#include "compiler/code_builder.h"

namespace tenon::compiler {

/// Sets of tools, and the functions that call them.
class ToolCompiler : CodeBuilder {
 public:
  using CodeBuilder::CodeBuilder;

  void tool_set(NodeId node, Register to);
  void chosen_tool(NodeId spread, Register chosen, Register to);
  /// A tool that calls nothing: that it is chosen is all. The model sees name, documentation and signature. Gives its
  /// index.
  std::uint32_t add_choice(CallShape shown, Place place);

 private:
  void tool(NodeId entry, Register to);
};

}  // namespace tenon::compiler
