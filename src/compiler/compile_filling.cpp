// Arguments that a model supplies, and what happens if they violate what the callee requires.

#include <fmt/format.h>

#include <algorithm>

#include "compiler/contract_compiler.h"
#include "compiler/early_contracts.h"
#include "compiler/filling_compiler.h"
#include "syntax/literals.h"

namespace tenon::compiler {

using types::Contract;
using types::ContractKind;
using types::TargetKind;

using types::TypeId;

namespace {

/// The maximum number of further requests for arguments.
constexpr std::uint16_t refills_max = 2;

}  // namespace

bool FillingCompiler::may_refuse(NodeId call, const CallShape& shape) const {
  const types::FunctionId callee = scope_.contract_holder(call);
  if (!callee.exists()) return false;
  const types::CheckedProgram& checked = program_.checked();
  const types::FunctionDeclaration& function = checked.functions[callee.index];
  return std::any_of(function.contracts.begin(), function.contracts.end(), [&](const Contract& contract) {
    return contract.kind == ContractKind::Requires && !contract.is_judged &&
           !is_early(checked, function, contract, shape.holes);
  });
}

void FillingCompiler::fill(NodeId node, Site site, Register window, std::uint16_t budgets) {
  const CallShape shape = site.call;
  const std::uint32_t index = program_.add_site(std::move(site));
  if (!may_refuse(node, shape)) {
    emit_wide(Opcode::Fill, window, index);
    return;
  }
  const Temporaries scope(*this);
  Refill refill = begin_refill();
  emit_wide(Opcode::Fill, window, index);
  emit(Opcode::RequestKey, refill.answer);
  hold_arguments(node, shape, window, refill, "", "");
  restore_on_failure(refill, here(), budgets);
}

void FillingCompiler::restore_on_failure(const Refill& refill, std::size_t end, std::uint16_t budgets) {
  const Temporaries scope(*this);
  const std::size_t done = emit_jump(Opcode::Jump);
  const Register caught = allocate();
  function_.handlers.push_back({static_cast<std::uint32_t>(refill.start), static_cast<std::uint32_t>(end),
                                static_cast<std::uint32_t>(here()), caught, budgets});
  emit(Opcode::Move, function_.context_register, refill.before);
  emit(Opcode::Raise, caught);
  land(done);
}

Refill FillingCompiler::begin_refill() {
  Refill refill{.before = allocate(), .attempt = allocate(), .answer = allocate()};
  emit(Opcode::Move, refill.before, function_.context_register);
  load_integer(refill.attempt, 1);
  refill.start = here();
  return refill;
}

void FillingCompiler::hold_arguments(NodeId call, const CallShape& shape, Register window, const Refill& refill,
                                     const std::string& prefix, const std::string& suffix) {
  const Temporaries scope(*this);
  const types::FunctionId callee = scope_.contract_holder(call);
  const Register context = function_.context_register;
  const Register broken = allocate(shape.parameters.size() + 1);
  for (std::size_t at = 0; at < shape.parameters.size(); ++at) {
    emit(Opcode::Move, static_cast<Register>(broken + at), static_cast<Register>(window + at));
  }
  std::vector<TypeId> given = facts(call).type_arguments;
  for (TypeId& type : given) type = resolve(type);
  const types::Strategy& strategy = program_.checked().functions[callee.index].strategy;
  emit_wide(Opcode::Call, broken, program_.instance(callee, given, strategy, Part::Guard));
  emit(Opcode::GetField, broken, broken, 0);
  const std::size_t refused = contracts().jump_if_broken(broken);
  std::vector<std::size_t> done = {emit_jump(Opcode::Jump)};
  land(refused);
  contracts().report_refusal(broken, refill.answer, shape.name);
  done.push_back(
      emit_jump(Opcode::JumpUnless, contracts().compare_short(Opcode::LessEqualShort, refill.attempt, refills_max)));
  emit(Opcode::AddI64Short, refill.attempt, refill.attempt, 1);
  emit(Opcode::Move, context, refill.before);
  const Register parts = allocate(2 * shape.holes.size() + 1);
  for (std::size_t at = 0; at < shape.holes.size(); ++at) {
    const auto head = static_cast<Register>(parts + 2 * at);
    const auto value = static_cast<Register>(head + 1);
    load_string(head, fmt::format("{}\"{}\":", at == 0 ? prefix + "{" : ",", shape.parameter_names[shape.holes[at]]));
    emit(Opcode::Move, value, static_cast<Register>(window + shape.holes[at]));
    emit(Opcode::CallBuiltin, value, static_cast<std::uint16_t>(types::Builtin::ToJson), value);
  }
  load_string(static_cast<Register>(parts + 2 * shape.holes.size()), "}" + suffix);
  emit(Opcode::Template, parts, parts, static_cast<std::uint16_t>(2 * shape.holes.size() + 1));
  inject_refusal(parts, broken);
  land_at(emit_jump(Opcode::Jump), refill.start);
  land_all(done);
  emit(Opcode::Move, context, refill.before);
}

void FillingCompiler::inject_refusal(Register answer, Register reasons) {
  emit(Opcode::InjectAs, function_.context_register, answer, static_cast<std::uint16_t>(EntryRole::Assistant));
  inject_reasons(reasons);
}

void FillingCompiler::inject_reasons(Register reasons) {
  const Temporaries scope(*this);
  const auto role = static_cast<std::uint16_t>(EntryRole::Refusal);
  const Register loop = allocate(3);
  load_string(loop, "");
  emit(Opcode::InjectAs, function_.context_register, loop, role);
  emit(Opcode::Move, loop, reasons);
  load_integer(static_cast<Register>(loop + 1), 0);
  const std::size_t item = emit_jump(Opcode::ForList, loop);
  emit(Opcode::InjectAs, function_.context_register, static_cast<Register>(loop + 2), role);
  land_at(emit_jump(Opcode::Jump), item);
  land(item);
}

}  // namespace tenon::compiler
