#pragma once

#include <initializer_list>
#include <string>

#include "compiler/code_builder.h"

namespace tenon::compiler {

/// Whether an agent starts with its initial state, or with what was kept of it.
enum class FirstState : bool { Always, UnlessKept };

/// The functions that an agent's declaration becomes.
class AgentCompiler : CodeBuilder {
 public:
  using CodeBuilder::CodeBuilder;

  void initial_state();
  void instructions();
  void return_instructions();
  void agent_run();
  void take_over();
  void handoff(NodeId node, NodeId input);
  /// `name`: of the other agent, or of the function. `values`: what goes with it, as text.
  void emit_notification(types::BuiltinEffect call, const std::string& name, std::initializer_list<Register> values);

 private:
  void prepare_turn(Register context, Register input, FirstState first);
};

}  // namespace tenon::compiler
