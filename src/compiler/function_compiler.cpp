#include "compiler/function_compiler.h"

#include <algorithm>

namespace tenon::compiler {

FunctionCompiler::FunctionCompiler(ProgramCompiler& program, types::FunctionId function,
                                   std::span<const types::TypeId> type_arguments, const types::Strategy& strategy,
                                   Part part, Holes holes, OuterContract outer)
    : scope(program, function, type_arguments, strategy, part, std::move(holes), std::move(outer)),
      emitter(program, scope.tree().main_span(scope.declaration.node)) {}

Function FunctionCompiler::run() {
  describe_head();
  emitter.set_place(emitter.function().place);
  compile_part();
  emitter.end_variables();
  return std::move(emitter.function());
}

/// Name, documentation, parameters and result.
void FunctionCompiler::describe_head() {
  const types::FunctionDeclaration& declaration = scope.declaration;
  Function& function = emitter.function();
  function.name = declaration.name;
  function.documentation = declaration.documentation;
  function.place = scope.program.place(scope.module, declaration.node, true);
  if (!scope.type_arguments.empty()) {
    function.name += '<';
    for (std::size_t at = 0; at < scope.type_arguments.size(); ++at) {
      function.name += (at > 0 ? ", " : "") + scope.program.type_table().describe(scope.type_arguments[at]);
    }
    function.name += '>';
  }
  function.result = scope.resolve(declaration.result);
  function.result_documentation = declaration.result_documentation;
  for (std::size_t at = 0; at < declaration.parameters.size(); ++at) {
    function.parameter_names.push_back(declaration.parameters[at].name);
    function.parameters.push_back(scope.resolve(declaration.parameters[at].type));
    scope.set_local(scope.first_local + static_cast<std::uint32_t>(at), emitter.allocate());
  }
  function.parameter_documentation = types::documentation_of(declaration.parameters);
  outer_contracts.take_arguments();
  if (declaration.own_context) function.context_register = static_cast<std::uint16_t>(*declaration.own_context);
  if (declaration.agent.exists()) function.agent = declaration.agent.index;
}

void FunctionCompiler::compile_part() {
  switch (scope.part) {
    case Part::Guard:
      return guards.guard();
    case Part::Ensured:
      return guards.ensured();
    case Part::StreamGuard:
      return guards.stream_guard();
    case Part::Violations:
      return guards.violations();
    case Part::Held:
      return guards.held();
    case Part::Early:
      return guards.early();
    case Part::Whole:
    case Part::Unguarded:
      break;
  }
  switch (scope.declaration.role) {
    case types::FunctionRole::InitialState:
      agents.initial_state();
      break;
    case types::FunctionRole::Instructions:
      agents.instructions();
      break;
    case types::FunctionRole::AgentRun:
      agents.agent_run();
      break;
    case types::FunctionRole::TakeOver:
      agents.take_over();
      break;
    case types::FunctionRole::ExternCall:
      contracts.extern_call();
      break;
    case types::FunctionRole::Written:
      bodies.compile();
      break;
  }
  Function& function = emitter.function();
  function.register_count = std::max<std::uint16_t>(function.register_count, 1);
}

}  // namespace tenon::compiler
