#include <algorithm>

#include "compiler/contract_compiler.h"
#include "compiler/outer_contract_compiler.h"

namespace tenon::compiler {

using types::FunctionDeclaration;
using types::TypeId;
using types::TypeTable;

bool OuterContractCompiler::has_own() const {
  return scope_.has_contract(true);
}

const FunctionDeclaration& OuterContractCompiler::outer_function() const {
  return program_.checked().functions[scope_.outer.function.index];
}

void OuterContractCompiler::take_arguments() {
  if (!scope_.outer.function.exists()) return;
  const FunctionDeclaration& outer = outer_function();
  first_argument_ = static_cast<Register>(function_.parameters.size());
  for (const types::Parameter& parameter : outer.parameters) {
    if (parameter.type == TypeTable::context) continue;
    allocate();
    function_.parameter_names.push_back(outer.name + "." + parameter.name);
    function_.parameters.push_back(
        program_.substitute(parameter.type, outer.type_parameter_types, scope_.outer.type_arguments));
    if (!function_.parameter_documentation.empty()) function_.parameter_documentation.emplace_back();
  }
}

void OuterContractCompiler::begin(NodeId body) {
  const bool has_outer = scope_.outer.function.exists();
  if (has_outer) accepted_by_outer_ = allocate_accepted();
  if (declaration_.is_completed || !(has_own() || has_outer)) return;
  for (const NodeId call : list_returned_calls(program_.checked(), module_, body)) returned_.insert(call);
  std::erase_if(returned_, [&](NodeId call) { return !passed_by(call); });
  if (!returned_.empty() && has_own()) accepted_by_own_ = allocate_accepted();
}

std::optional<OuterContract> OuterContractCompiler::passed_by(NodeId call) const {
  if (!returned_.contains(call) || facts(call).target.kind != types::TargetKind::Function) return std::nullopt;
  const types::FunctionId callee{facts(call).target.index};
  if (!program_.violation_readers().contains(callee)) return std::nullopt;
  const FunctionDeclaration& function = program_.checked().functions[callee.index];
  std::vector<TypeId> given = facts(call).type_arguments;
  for (TypeId& type : given) type = resolve(type);
  if (program_.substitute(function.result, function.type_parameter_types, given) != function_.result)
    return std::nullopt;
  return has_own() ? OuterContract{scope_.id, scope_.type_arguments} : scope_.outer;
}

std::size_t OuterContractCompiler::count_passed(NodeId call) const {
  const auto passed = passed_by(call);
  if (!passed) return 0;
  const auto& parameters = program_.checked().functions[passed->function.index].parameters;
  return static_cast<std::size_t>(std::ranges::count_if(
      parameters, [](const types::Parameter& parameter) { return parameter.type != TypeTable::context; }));
}

void OuterContractCompiler::pass_arguments(Register window) {
  if (has_own()) {
    for (std::size_t at = 0; at < declaration_.parameters.size(); ++at) {
      if (declaration_.parameters[at].type != TypeTable::context)
        emit(Opcode::Move, window++, static_cast<Register>(at));
    }
    return;
  }
  for (Register from = first_argument_; from < function_.parameters.size(); ++from) emit(Opcode::Move, window++, from);
}

Register OuterContractCompiler::allocate_accepted() {
  const Register accepted = allocate(2);
  emit(Opcode::LoadUnit, accepted);
  emit(Opcode::LoadBoolean, static_cast<Register>(accepted + 1), 0);
  return accepted;
}

void OuterContractCompiler::accept(Register accepted, Register value) {
  emit(Opcode::Move, accepted, value);
  emit(Opcode::LoadBoolean, static_cast<Register>(accepted + 1), 1);
}

template <class Check>
void OuterContractCompiler::unless_accepted(Register accepted, Register value, Check check) {
  const Temporaries scope(*this);
  const Register is_it = allocate();
  const std::size_t none = emit_jump(Opcode::JumpUnless, static_cast<Register>(accepted + 1));
  emit(Opcode::Equal, is_it, accepted, value);
  const std::size_t holds = emit_jump(Opcode::JumpIf, is_it);
  land(none);
  check();
  land(holds);
}

void OuterContractCompiler::note_returned(Register value) {
  accept(has_own() ? *accepted_by_own_ : *accepted_by_outer_, value);
}

bool OuterContractCompiler::asks_for_violations(NodeId call) const {
  const types::Target& target = facts(call).target;
  const bool is_optional = tree().kind(call) == NodeKind::MethodCallExpression && target.detail != 0;
  if (!scope_.outer.function.exists() || target.kind != types::TargetKind::Function || is_optional) return false;
  if (types::FunctionId{target.index} != program_.violation_readers().violations()) return false;
  return resolve(facts(call).type_arguments.front()) == function_.result;
}

void OuterContractCompiler::violations(NodeId call, Register to) {
  const Temporaries scope(*this);
  const Register value = allocate();
  const bool is_method = tree().kind(call) == NodeKind::MethodCallExpression;
  into(tree().first(is_method ? call : tree().find_child(call, NodeKind::Arguments)), value);
  at(call);
  const Register list = call_part(Part::Violations, value);
  emit(Opcode::Move, to, list);
  const std::size_t refused = contracts().jump_if_broken(list);
  accept(*accepted_by_outer_, value);
  land(refused);
}

Register OuterContractCompiler::call_part(Part part, Register value) {
  const FunctionDeclaration& outer = outer_function();
  const Register window = allocate(outer.parameters.size() + 1);
  Register to = window;
  Register from = first_argument_;
  for (const types::Parameter& parameter : outer.parameters) {
    if (parameter.type == TypeTable::context) {
      emit(Opcode::NewContext, to++);
    } else {
      emit(Opcode::Move, to++, from++);
    }
  }
  emit(Opcode::Move, to, value);
  const auto& [function, type_arguments] = scope_.outer;
  emit_wide(Opcode::Call, window, program_.instance(function, type_arguments, outer.strategy, part));
  return window;
}

void OuterContractCompiler::check_own(Register value) {
  if (!accepted_by_own_) return contracts().check_value(value);
  unless_accepted(*accepted_by_own_, value, [&] { contracts().check_value(value); });
}

void OuterContractCompiler::check_value(Register value) {
  if (!accepted_by_outer_) return;
  unless_accepted(*accepted_by_outer_, value, [&] { call_part(Part::Held, value); });
}

}  // namespace tenon::compiler
