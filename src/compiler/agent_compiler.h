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

  /// Returns the record of the defaults of `state { … }`.
  void initial_state();
  /// Returns the text that `instructions { … }` has injected.
  void instructions();
  /// The end of `instructions`, and a `return` in it.
  void return_instructions();
  /// One turn of a new agent: its own state, a context of its instructions and the input, and at the end the caller's
  /// state again, with what was kept for it. If a failure ends the frame, the machine restores both from the registers
  /// of the first two instructions.
  void agent_run();
  /// The rest of another agent's turn, on its context. The newest instructions are the ones that count.
  void take_over();
  /// Ends this agent's turn with the other agent's answer.
  void handoff(NodeId node, NodeId input);
  /// Reports an effect: a call of its extern. `name`: of the other agent, or of the function; `values`: its other
  /// arguments, as text.
  void emit_notification(types::BuiltinEffect call, const std::string& name, std::initializer_list<Register> values);

 private:
  void prepare_turn(Register context, Register input, FirstState first);
};

}  // namespace tenon::compiler
