// The functions that an agent's declaration becomes.

#include "compiler/agent_compiler.h"
#include "compiler/exit_compiler.h"
#include "compiler/statement_compiler.h"

namespace tenon::compiler {

using types::TypeTable;

void AgentCompiler::initial_state() {
  const auto section = tree().find_child(declaration_.node, NodeKind::StateSection);
  std::vector<NodeId> fields;
  if (section.exists()) fields = tree().children(section, NodeKind::StateField);
  const Register window = allocate(std::max<std::size_t>(fields.size(), 1));
  for (std::size_t at = 0; at < fields.size(); ++at) {
    into(tree().next(tree().first(fields[at])), static_cast<Register>(window + at));
  }
  emit(Opcode::MakeRecord, window, window, program_.type_operand(function_.result));
  emit(Opcode::Return, window);
}

void AgentCompiler::instructions() {
  function_.result = TypeTable::string;
  statements().block(tree().find_child(declaration_.node, NodeKind::Block), std::nullopt);
  return_instructions();
}

void AgentCompiler::return_instructions() {
  if (exits().return_by_finally(std::nullopt)) return;
  const Temporaries scope(*this);
  const Register window = allocate();
  emit(Opcode::Move, window, function_.context_register);
  emit(Opcode::CallBuiltin, window, static_cast<std::uint16_t>(types::Builtin::ContextText), window);
  emit(Opcode::Return, window);
}

void AgentCompiler::emit_notification(types::BuiltinEffect call, const std::string& name,
                                      std::initializer_list<Register> values) {
  const Temporaries scope(*this);
  const Register window = allocate(1 + values.size());
  load_string(window, name);
  Register next = window;
  for (const Register value : values) emit(Opcode::Render, ++next, value);
  for (std::uint32_t id = 0; id < program_.checked().externs.size(); ++id) {
    if (program_.checked().externs[id].builtin_effect != call) continue;
    emit_wide(Opcode::CallExtern, window, program_.extern_instance(types::ExternId{id}, {}));
  }
}

/// Sets the agent's state, and adds its instructions and the input to the context. An agent that gets the turn back
/// continues with the state that it had.
void AgentCompiler::prepare_turn(Register context, Register input, FirstState first) {
  const Temporaries scope(*this);
  const types::AgentDeclaration& agent = program_.checked().agents[declaration_.agent.index];
  const Register window = allocate();
  std::optional<std::size_t> is_kept;
  if (first == FirstState::UnlessKept) {
    emit(Opcode::SwapState, window, program_.type_operand(agent.state));
    is_kept = emit_jump(Opcode::JumpIf, window);
  }
  emit_wide(Opcode::Call, window, program_.instance(agent.initial_state, {}));
  emit(Opcode::StoreState, window);
  if (is_kept) land(*is_kept);
  if (agent.instructions.exists()) {
    emit(Opcode::NewContext, window);
    emit_wide(Opcode::Call, window, program_.instance(agent.instructions, {}));
    emit(Opcode::InjectAs, context, window, static_cast<std::uint16_t>(EntryRole::Instructions));
  }
  // The input of a handoff is often what the person has said, which is in the context already.
  emit(Opcode::InjectPrompt, context, input);
}

void AgentCompiler::take_over() {
  const types::AgentDeclaration& agent = program_.checked().agents[declaration_.agent.index];
  function_.context_register = no_register;
  emit_notification(types::BuiltinEffect::HandedOff, agent.name, {1});
  prepare_turn(0, 1, FirstState::UnlessKept);
  emit_wide(Opcode::Call, 0, program_.instance(agent.turn, {}));
  emit(Opcode::Return, 0);
}

void AgentCompiler::handoff(NodeId node, NodeId input) {
  const types::Target& target = facts(node).target;
  const Register window = allocate(2);
  into(input, static_cast<Register>(window + 1));
  emit(Opcode::Move, window, function_.context_register);
  at(node);
  exits().keep_state();
  emit_wide(Opcode::Call, window, program_.instance(types::FunctionId{target.index}, {}));
  exits().return_handoff(window);
}

void AgentCompiler::agent_run() {
  function_.is_agent_run = true;
  const types::AgentDeclaration& agent = program_.checked().agents[declaration_.agent.index];
  const Register input = 0;
  const Register outer = allocate();
  emit(Opcode::TakeState, outer);
  const Register outer_kept = allocate();
  emit(Opcode::TakeKept, outer_kept);
  const Register context = allocate();
  // The last ones: a call clears what is after its window.
  const Register window = allocate(2);
  emit_notification(types::BuiltinEffect::AgentCalled, agent.name, {input});
  emit(Opcode::NewContext, context);
  prepare_turn(context, input, FirstState::Always);
  emit(Opcode::Take, window, context);
  emit(Opcode::Move, static_cast<Register>(window + 1), input);
  emit_wide(Opcode::Call, window, program_.instance(agent.turn, {}));
  emit_notification(types::BuiltinEffect::AgentReturned, agent.name, {window});
  emit(Opcode::StoreState, outer);
  emit(Opcode::StoreKept, outer_kept);
  emit(Opcode::Return, window);
}

}  // namespace tenon::compiler
