// The parts of a contract that are separate functions: its `requires`, to determine in advance whether a call is
// possible, and the part of its `ensures` that can be checked while an answer is being generated.

#include <algorithm>

#include "compiler/contract_compiler.h"
#include "compiler/early_contracts.h"
#include "compiler/guard_compiler.h"
#include "compiler/requirement_compiler.h"
#include "types/plan/contract_words.h"

namespace tenon::compiler {

using types::Contract;
using types::ContractKind;
using types::TypeId;

using types::TypeTable;

void GuardCompiler::guard() {
  function_.name += " requires";
  function_.context_register = no_register;
  const TypeId texts = program_.type_table().list(TypeTable::string);
  function_.result = program_.type_table().tuple({texts, texts, texts});
  const Register lists = allocate(3);
  contracts().compute_contracts(std::nullopt, {.all = lists});
  const auto judged = static_cast<Register>(lists + 1);
  const auto keys = static_cast<Register>(lists + 2);
  emit(Opcode::MakeList, judged, judged, 0);
  emit(Opcode::MakeList, keys, keys, 0);
  std::vector<std::size_t> broken;  // if any, nothing is judged
  for (const Contract& contract : declaration_.contracts) {
    // Only conditions about a state, which is given by a hole, are judged.
    if (!contract.is_judged || contract.kind != ContractKind::Requires || scope_.holes.empty()) continue;
    const Temporaries scope(*this);
    if (broken.empty()) broken.push_back(contracts().jump_if_broken(lists));
    const Register text = allocate();
    const Register key = allocate();
    contracts().compute_text(contract, text, {.all = lists});
    broken.push_back(contracts().jump_if_broken(lists));
    const auto says_nothing = shown_contracts().jump_if_blank(contract.expression, text);
    key_of_contract(contract, text, key);
    emit(Opcode::Push, judged, text);
    emit(Opcode::Push, keys, key);
    if (says_nothing) land(*says_nothing);
  }
  land_all(broken);
  emit(Opcode::MakeRecord, lists, lists, program_.type_operand(function_.result));
  emit(Opcode::Return, lists);
}

/// Makes the result of the function the only parameter.
Register GuardCompiler::take_result() {
  function_.context_register = no_register;
  function_.parameters.push_back(function_.result);
  function_.parameter_names.emplace_back("result");
  if (!function_.parameter_documentation.empty()) function_.parameter_documentation.emplace_back();
  return allocate();
}

void GuardCompiler::ensured() {
  function_.name += " ensured";
  const Register value = take_result();
  function_.result = program_.type_table().list(TypeTable::string);
  const Register keys = allocate();
  emit(Opcode::MakeList, keys, keys, 0);
  for (const Contract& contract : declaration_.contracts) {
    if (!contract.is_judged || contract.kind == ContractKind::Requires) continue;
    const Temporaries scope(*this);
    if (contract.result.exists()) scope_.set_local(contract.result.index, value);
    const Register text = allocate();
    into(contract.expression, text);
    key_of_contract(contract, text, text);
    emit(Opcode::Push, keys, text);
  }
  emit(Opcode::Return, keys);
}

void GuardCompiler::violations() {
  function_.name += " violations";
  const Register value = take_result();
  function_.result = program_.type_table().list(TypeTable::string);
  const Register answer = allocate();
  emit(Opcode::RequestKey, answer);
  const Register shown = allocate();
  const Reasons reasons{.all = allocate(), .shown = shown};
  contracts().try_contracts(value, reasons);
  contracts().report_refusal(reasons.all, answer, declaration_.name);
  const std::size_t refused = contracts().jump_if_broken(reasons.all);
  emit(Opcode::Return, shown);
  land(refused);
  const std::size_t is_shown = contracts().jump_if_broken(shown);
  // What violates a `check` is not shown.
  load_string(answer, "");
  emit(Opcode::Push, shown, answer);
  land(is_shown);
  emit(Opcode::Return, shown);
}

void GuardCompiler::held() {
  function_.name += " held";
  const Register value = take_result();
  function_.result = TypeTable::unit;
  contracts().check_value(value);
  emit(Opcode::ReturnUnit);
}

/// to = the key of the judged text in `text`; the state is the argument of the hole.
void GuardCompiler::key_of_contract(const Contract& contract, Register text, Register to) {
  const std::vector<std::size_t> implied =
      types::implied_parameters(program_.checked(), declaration_, contract.expression, scope_.holes.front());
  if (implied.empty()) {
    if (to != text) emit(Opcode::Move, to, text);
    return;
  }
  const Temporaries scope(*this);
  const Register parts = allocate(1 + 2 * implied.size());
  emit(Opcode::Move, parts, text);
  for (std::size_t at = 0; at < implied.size(); ++at) {
    const auto head = static_cast<Register>(parts + 1 + 2 * at);
    load_string(head, types::key_of_parameter(declaration_.parameters[implied[at]].name));
    emit(Opcode::Move, static_cast<Register>(head + 1), static_cast<Register>(implied[at]));
  }
  emit(Opcode::Template, to, parts, static_cast<std::uint16_t>(1 + 2 * implied.size()));
}

bool names_any(const types::CheckedProgram& program, const types::FunctionDeclaration& function, syntax::NodeId node,
               std::span<const std::uint16_t> parameters) {
  const types::Module& module = program.modules[function.module.index];
  const types::Target& target = module.facts_of(node).target;
  if (target.kind == types::TargetKind::Local) {
    const source::Span span = program.locals[target.index].span;
    if (std::any_of(parameters.begin(), parameters.end(),
                    [&](std::uint16_t at) { return function.parameters[at].span == span; }))
      return true;
  }
  const syntax::SyntaxTree& tree = *module.tree;
  for (syntax::NodeId child = tree.first(node); child.exists(); child = tree.next(child)) {
    if (names_any(program, function, child, parameters)) return true;
  }
  return false;
}

bool is_early(const types::CheckedProgram& program, const types::FunctionDeclaration& function,
              const Contract& contract, std::span<const std::uint16_t> holes) {
  return contract.kind == ContractKind::Requires && !contract.is_judged &&
         !names_any(program, function, contract.expression, holes);
}

void GuardCompiler::early() {
  function_.context_register = no_register;
  function_.result = TypeTable::unit;
  const Reasons reasons{.all = allocate(), .which = allocate()};
  contracts().compute_contracts(std::nullopt, reasons);
  contracts().fail_if_broken(reasons, contracts().broken_requires(), Opcode::BreakRequires);
  emit(Opcode::ReturnUnit);
}

void GuardCompiler::check_early(NodeId node, const CallShape& shape, Register window) {
  const types::FunctionId callee = scope_.contract_holder(node);
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

/// The operands of `&&` that, once they are false for the start of a text or list, remain false for every
/// continuation: an upper bound of its length, its start, something that it must not contain, a condition for each
/// of its items.
void GuardCompiler::list_lasting(NodeId condition, types::LocalId value, std::vector<NodeId>& parts) const {
  const NodeId left = tree().first(condition);
  const bool is_both = tree().kind(condition) == NodeKind::BinaryExpression && tree().main_text(condition) == "&&";
  if (is_both || tree().kind(condition) == NodeKind::ParenthesizedExpression) {
    list_lasting(left, value, parts);
    if (is_both) list_lasting(tree().next(left), value, parts);
  } else if (is_lasting(condition, value)) {
    parts.push_back(condition);
  }
}

bool GuardCompiler::is_lasting(NodeId condition, types::LocalId value) const {
  const auto is_value = [&](NodeId node) {
    const types::Target& target = facts(node).target;
    return target.kind == types::TargetKind::Local && target.index == value.index;
  };
  const auto is_call_of = [&](NodeId node, std::string_view method) {
    return tree().kind(node) == NodeKind::MethodCallExpression && tree().main_text(node) == method &&
           is_value(tree().first(node)) && !scope_.speaks_of(tree().next(tree().first(node)), value);
  };
  const NodeId left = tree().first(condition);
  switch (tree().kind(condition)) {
    case NodeKind::BinaryExpression: {
      const NodeId right = tree().next(left);
      const std::string_view operation = tree().main_text(condition);
      const bool is_upper = operation == "<" || operation == "<=";
      const bool is_lower = operation == ">" || operation == ">=";
      return (is_upper && is_call_of(left, "len") && !scope_.speaks_of(right, value)) ||
             (is_lower && is_call_of(right, "len") && !scope_.speaks_of(left, value));
    }
    case NodeKind::UnaryExpression:
      return tree().main_text(condition) == "!" && (is_call_of(left, "contains") || is_call_of(left, "any"));
    case NodeKind::MethodCallExpression:
      return is_call_of(condition, "all") || is_call_of(condition, "starts_with");
    default:
      return false;
  }
}

bool GuardCompiler::has_stream_guard() const {
  const types::TypeKind kind = program_.type_table().kind(program_.type_table().base(function_.result));
  if (kind != types::TypeKind::String && kind != types::TypeKind::Text && kind != types::TypeKind::List) return false;
  return std::any_of(declaration_.contracts.begin(), declaration_.contracts.end(),
                     [&](const Contract& contract) { return !lasting_parts(contract).empty(); });
}

std::vector<syntax::NodeId> GuardCompiler::lasting_parts(const Contract& contract) const {
  std::vector<NodeId> parts;
  if (contract.kind != ContractKind::Requires && !contract.is_judged) {
    list_lasting(contract.expression, contract.result, parts);
  }
  return parts;
}

void GuardCompiler::stream_guard() {
  function_.name += " ensures";
  const Register value = take_result();
  function_.result = TypeTable::boolean;
  const Register holds = allocate();
  std::vector<std::size_t> fails;
  for (const Contract& contract : declaration_.contracts) {
    for (const NodeId part : lasting_parts(contract)) {
      const Temporaries scope(*this);
      scope_.set_local(contract.result.index, value);
      into(part, holds);
      if (tree().kind(part) == NodeKind::MethodCallExpression && tree().main_text(part) == "starts_with") {
        // The text so far may still be the beginning of the required start.
        const std::size_t begun = emit_jump(Opcode::JumpIf, holds);
        const Register window = allocate(2);
        into(tree().first(tree().find_child(part, NodeKind::Arguments)), window);
        emit(Opcode::Move, static_cast<Register>(window + 1), value);
        emit(Opcode::CallBuiltin, holds, static_cast<std::uint16_t>(types::Builtin::StringStartsWith), window);
        land(begun);
      }
      fails.push_back(emit_jump(Opcode::JumpUnless, holds));
    }
  }
  land_all(fails);
  emit(Opcode::Return, holds);
}

}  // namespace tenon::compiler
