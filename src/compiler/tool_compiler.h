#pragma once

#include "compiler/code_builder.h"

namespace tenon::compiler {

/// Sets of tools, and the functions that call them.
class ToolCompiler : CodeBuilder {
 public:
  using CodeBuilder::CodeBuilder;

  /// `tools { … }`.
  void tool_set(NodeId node, Register to);
  /// Calls the chosen tool; the answer about it is in the registers from `chosen` on.
  void chosen_tool(NodeId spread, Register chosen, Register to);
  /// Calls the tool of the set in `set` whose name is in `name`, with the arguments that the map in `given` has as
  /// texts.
  void named_tool(Register set, Register name, Register given, Register to);
  /// A tool that calls nothing, for a choice alone. The model sees its name, documentation and signature. Returns its
  /// index.
  std::uint32_t add_choice(CallShape shown, Place place);

 private:
  void tool(NodeId entry, Register to);
};

}  // namespace tenon::compiler
