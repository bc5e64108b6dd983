#include "compiler/code_builder.h"

#include "compiler/function_compiler.h"

namespace tenon::compiler {

CodeBuilder::CodeBuilder(FunctionCompiler& compiler)
    : compiler_(compiler),
      scope_(compiler.scope),
      emitter_(compiler.emitter),
      program_(compiler.scope.program),
      declaration_(compiler.scope.declaration),
      module_(compiler.scope.module),
      function_(compiler.emitter.function()) {}

void CodeBuilder::at(NodeId node, bool main_token) {
  emitter_.set_place(program_.place(module_, node, main_token));
}

void CodeBuilder::emit_return(Register value) {
  if (declaration_.has_trusted_result) require_trusted(value, "the value of `" + declaration_.name + "`");
  emit(Opcode::Return, value);
}

void CodeBuilder::into(NodeId node, Register to) {
  compiler_.expressions.into(node, to);
}

Register CodeBuilder::operand(NodeId node) {
  return compiler_.expressions.operand(node);
}

AgentCompiler& CodeBuilder::agents() const {
  return compiler_.agents;
}

AssertionCompiler& CodeBuilder::assertions() const {
  return compiler_.assertions;
}

CallCompiler& CodeBuilder::calls() const {
  return compiler_.calls;
}

CompletionCompiler& CodeBuilder::completions() const {
  return compiler_.completions;
}

ContractCompiler& CodeBuilder::contracts() const {
  return compiler_.contracts;
}

ControlCompiler& CodeBuilder::control() const {
  return compiler_.control;
}

ExitCompiler& CodeBuilder::exits() const {
  return compiler_.exits;
}

ExpressionCompiler& CodeBuilder::expressions() const {
  return compiler_.expressions;
}

FillingCompiler& CodeBuilder::filling() const {
  return compiler_.filling;
}

GuardCompiler& CodeBuilder::guards() const {
  return compiler_.guards;
}

OuterContractCompiler& CodeBuilder::outer_contracts() const {
  return compiler_.outer_contracts;
}

PatternCompiler& CodeBuilder::patterns() const {
  return compiler_.patterns;
}

PlaceCompiler& CodeBuilder::places() const {
  return compiler_.places;
}

PursueCompiler& CodeBuilder::pursuits() const {
  return compiler_.pursuits;
}

RequirementCompiler& CodeBuilder::shown_contracts() const {
  return compiler_.shown_contracts;
}

StatementCompiler& CodeBuilder::statements() const {
  return compiler_.statements;
}

TemplateCompiler& CodeBuilder::templates() const {
  return compiler_.templates;
}

ToolCompiler& CodeBuilder::tools() const {
  return compiler_.tools;
}

void CodeBuilder::set_variable(std::uint32_t local, Register at) {
  scope_.set_local(local, at);
  emitter_.name_variable(at, program_.checked().locals[local].name);
}

}  // namespace tenon::compiler
