// The parts of a contract that are functions of their own: its `requires` for who wants to know beforehand whether a
// call is possible, and what of its `ensures` can be told of an answer that is still being written.

#include <algorithm>

#include "bytecode/compiler.h"
#include "bytecode/early_contracts.h"

namespace tenon::bytecode {

using types::Contract;
using types::ContractKind;
using types::TypeId;
using types::TypeTable;

/// What `pursue` wants to know of an action: why it cannot be taken, and what a judge has to say of it.
void FunctionCompiler::guard() {
  function_.name += " requires";
  function_.context_register = no_register;
  const TypeId texts = program_.type_table().list(TypeTable::string);
  function_.result = program_.type_table().tuple({texts, texts});
  const Register lists = allocate(2);
  compute_contracts(std::nullopt, {lists, std::nullopt});
  const auto judged = static_cast<Register>(lists + 1);
  emit(Opcode::MakeList, judged, judged, 0);
  for (const Contract& contract : declaration_.contracts) {
    if (!contract.is_judged || contract.kind != ContractKind::Requires) continue;
    const Temporaries scope(*this);
    const Register text = allocate();
    into(contract.expression, text);
    emit(Opcode::Push, judged, text);
  }
  emit(Opcode::MakeRecord, lists, lists, program_.type_operand(function_.result));
  emit(Opcode::Return, lists);
}

namespace {

bool names_any(const types::CheckedProgram& program, const types::FunctionDeclaration& function,
               const types::Module& module, syntax::NodeId node, std::span<const std::uint16_t> parameters) {
  const types::Target& target = module.facts_of(node).target;
  if (target.kind == types::TargetKind::Local) {
    const source::Span span = program.locals[target.index].span;
    if (std::any_of(parameters.begin(), parameters.end(),
                    [&](std::uint16_t at) { return function.parameters[at].span == span; }))
      return true;
  }
  const syntax::SyntaxTree& tree = *module.tree;
  for (syntax::NodeId child = tree.first(node); child.exists(); child = tree.next(child)) {
    if (names_any(program, function, module, child, parameters)) return true;
  }
  return false;
}

}  // namespace

bool is_early(const types::CheckedProgram& program, const types::FunctionDeclaration& function,
              const Contract& contract, std::span<const std::uint16_t> holes) {
  return contract.kind == ContractKind::Requires && !contract.is_judged &&
         !names_any(program, function, program.modules[function.module.index], contract.expression, holes);
}

/// The first part of a call with holes: what of its `requires` can be told without them.
void FunctionCompiler::early() {
  function_.context_register = no_register;
  function_.result = TypeTable::unit;
  const Register broken = allocate();
  compute_contracts(std::nullopt, {broken, std::nullopt});
  fail_if_broken(broken, broken_call());
  emit(Opcode::ReturnUnit);
}

/// Tries what can be tried of the callee's `requires` before its missing arguments are asked for. The given ones stand
/// in the window.
void FunctionCompiler::check_early(NodeId node, const CallShape& shape, Register window) {
  const types::Target& target = facts(node).target;
  const types::FunctionId callee = target.kind == types::TargetKind::Extern
                                       ? program_.checked().externs[target.index].wrapper
                                       : types::FunctionId{target.index};
  if (!callee.exists()) return;
  const types::FunctionDeclaration& function = program_.checked().functions[callee.index];
  if (std::none_of(function.contracts.begin(), function.contracts.end(), [&](const Contract& contract) {
        return is_early(program_.checked(), function, contract, shape.holes);
      }))
    return;
  const Temporaries scope(*this);
  const Register arguments = allocate(shape.parameters.size());
  for (std::size_t at = 0; at < shape.parameters.size(); ++at) {
    const auto to = static_cast<Register>(arguments + at);
    if (std::find(shape.holes.begin(), shape.holes.end(), at) != shape.holes.end()) {
      emit(Opcode::LoadUnit, to);
    } else {
      emit(Opcode::Move, to, static_cast<Register>(window + at));
    }
  }
  std::vector<TypeId> given = facts(node).type_arguments;
  for (TypeId& type : given) type = resolve(type);
  emit_wide(Opcode::Call, arguments, program_.instance(callee, given, function.strategy, Part::Early, shape.holes));
}

bool FunctionCompiler::speaks_of(NodeId node, types::LocalId local) const {
  const types::Target& target = facts(node).target;
  if (target.kind == types::TargetKind::Local && target.index == local.index) return true;
  for (NodeId child = tree().first(node); child.exists(); child = tree().next(child)) {
    if (speaks_of(child, local)) return true;
  }
  return false;
}

/// Whether the condition, once it is false of the beginning of a text or list, stays so however that goes on: an upper
/// bound of its length, something that it may not contain, something that holds of each of its items.
bool FunctionCompiler::is_lasting(NodeId condition, types::LocalId value) const {
  const auto is_value = [&](NodeId node) {
    const types::Target& target = facts(node).target;
    return target.kind == types::TargetKind::Local && target.index == value.index;
  };
  const auto is_call_of = [&](NodeId node, std::string_view method) {
    return tree().kind(node) == NodeKind::MethodCallExpression && tree().main_text(node) == method &&
           is_value(tree().first(node)) && !speaks_of(tree().next(tree().first(node)), value);
  };
  const NodeId left = tree().first(condition);
  switch (tree().kind(condition)) {
    case NodeKind::ParenthesizedExpression:
      return is_lasting(left, value);
    case NodeKind::BinaryExpression: {
      const NodeId right = tree().next(left);
      const std::string_view operation = tree().main_text(condition);
      if (operation == "&&") return is_lasting(left, value) && is_lasting(right, value);
      const bool is_upper = operation == "<" || operation == "<=";
      const bool is_lower = operation == ">" || operation == ">=";
      return (is_upper && is_call_of(left, "len") && !speaks_of(right, value)) ||
             (is_lower && is_call_of(right, "len") && !speaks_of(left, value));
    }
    case NodeKind::UnaryExpression:
      return tree().main_text(condition) == "!" && (is_call_of(left, "contains") || is_call_of(left, "any"));
    case NodeKind::MethodCallExpression:
      return is_call_of(condition, "all");
    default:
      return false;
  }
}

bool FunctionCompiler::has_stream_guard() const {
  const types::TypeKind kind = program_.type_table().kind(program_.type_table().base(function_.result));
  if (kind != types::TypeKind::String && kind != types::TypeKind::Text && kind != types::TypeKind::List) return false;
  return std::any_of(declaration_.contracts.begin(), declaration_.contracts.end(), [&](const Contract& contract) {
    return contract.kind != ContractKind::Requires && !contract.is_judged &&
           is_lasting(contract.expression, contract.result);
  });
}

void FunctionCompiler::stream_guard() {
  function_.name += " ensures";
  function_.context_register = no_register;
  const Register value = allocate();
  function_.parameters.push_back(function_.result);
  function_.parameter_names.emplace_back("result");
  function_.result = TypeTable::boolean;
  const Register holds = allocate();
  std::vector<std::size_t> fails;
  for (const Contract& contract : declaration_.contracts) {
    if (contract.kind == ContractKind::Requires || contract.is_judged ||
        !is_lasting(contract.expression, contract.result))
      continue;
    const Temporaries scope(*this);
    locals_[contract.result.index] = value;
    into(contract.expression, holds);
    fails.push_back(emit_jump(Opcode::JumpUnless, holds));
  }
  land_all(fails);
  emit(Opcode::Return, holds);
}

}  // namespace tenon::bytecode
