// Contracts are code around a function's body. `requires` is checked before it, `ensures` and `check` on the value:
// once for a value of the program; a value of a model is requested again, by the function's strategy. Computed
// conditions are checked first; the judged ones are sent to the judge in one call.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compiler/agent_compiler.h"
#include "compiler/contract_compiler.h"
#include "compiler/early_contracts.h"
#include "compiler/requirement_compiler.h"
#include "diagnostics/kinds.h"

namespace tenon::compiler {

using types::Contract;
using types::ContractKind;
using types::Strategy;

using types::TypeId;
using types::TypeTable;

namespace {

/// Fields of the struct `Verdict` in stdlib/contracts.tn.
constexpr std::uint16_t verdict_holds_field = 0;

bool is_of_value(const Contract& contract) {
  return contract.kind != ContractKind::Requires;
}

}  // namespace

void ContractCompiler::try_contracts(std::optional<Register> value, const Reasons& reasons) {
  compute_contracts(value, reasons);
  judge_contracts(value, reasons);
}

void ContractCompiler::compute_contracts(std::optional<Register> value, const Reasons& reasons) {
  emit(Opcode::MakeList, reasons.all, reasons.all, 0);
  if (reasons.shown) emit(Opcode::MakeList, *reasons.shown, *reasons.shown, 0);
  if (reasons.which) load_integer(*reasons.which, -1);
  for (const Contract& contract : declaration_.contracts) {
    if (is_of_value(contract) != value.has_value() || contract.is_judged) continue;
    if (scope_.part == Part::Early && !is_early(program_.checked(), declaration_, contract, scope_.holes)) continue;
    const Temporaries scope(*this);
    if (contract.result.exists()) scope_.set_local(contract.result.index, *value);
    const Register holds = allocate();
    const Register reason = allocate();
    std::vector<NodeId> conditions;
    scope_.list_conditions(contract.expression, conditions);
    std::vector<std::size_t> explained;
    for (const NodeId condition : conditions) {
      const Temporaries condition_scope(*this);
      const std::size_t begin = here();
      into(condition, holds);
      const std::size_t end = here();
      const std::size_t held = emit_jump(Opcode::JumpIf, holds);
      explain_broken(contract, condition, reason);
      explained.push_back(emit_jump(Opcode::Jump));
      // A condition that cannot be computed is violated.
      add_handler(begin, end, here(), holds);
      const Register parts = allocate(3);
      name_contract(contract, condition, parts);
      load_string(static_cast<Register>(parts + 1), ": ");
      emit(Opcode::GetField, static_cast<Register>(parts + 2), holds, failure_message_field);
      emit(Opcode::Template, reason, parts, 3);
      explained.push_back(emit_jump(Opcode::Jump));
      land(held);
    }
    const std::size_t all_hold = emit_jump(Opcode::Jump);
    land_all(explained);
    add_reason(reasons, contract, reason);
    land(all_hold);
  }
}

void ContractCompiler::add_reason(const Reasons& reasons, const Contract& contract, Register reason) {
  emit(Opcode::Push, reasons.all, reason);
  if (reasons.shown && contract.kind == ContractKind::Ensures) emit(Opcode::Push, *reasons.shown, reason);
  note_first(reasons, contract);
}

void ContractCompiler::note_first(const Reasons& reasons, const Contract& contract) {
  if (!reasons.which) return;
  const Temporaries scope(*this);
  const Register is_first = allocate();
  emit(Opcode::EqualShort, is_first, *reasons.which, static_cast<std::uint16_t>(-1));
  const std::size_t later = emit_jump(Opcode::JumpUnless, is_first);
  load_integer(*reasons.which, &contract - declaration_.contracts.data());
  land(later);
}

/// to = what is violated: the words of the contract, if there are any, or the condition's code.
void ContractCompiler::name_contract(const Contract& contract, NodeId condition, Register to) {
  if (!contract.words.exists()) return load_string(to, fmt::format("`{}`", tree().text(condition)));
  const std::size_t begin = here();
  into(contract.words, to);
  shown_contracts().or_code(begin, condition, to);
}

/// The same, with the values of both sides of a comparison if they are numbers, and not literals.
void ContractCompiler::explain_broken(const Contract& contract, NodeId condition, Register to) {
  const NodeId comparison = tree().without_parentheses(condition);
  std::vector<NodeId> sides;
  if (tree().kind(comparison) == NodeKind::BinaryExpression) {
    for (NodeId side = tree().first(comparison); side.exists(); side = tree().next(side)) {
      const types::TypeKind kind = kind_of(side);
      const bool is_number = is_plain(kind) && kind != types::TypeKind::Boolean && kind != types::TypeKind::Unit;
      if (is_number && !scope_.is_literal_number(side)) sides.push_back(side);
    }
  }
  if (sides.empty()) return name_contract(contract, condition, to);
  const Temporaries scope(*this);
  const Register parts = allocate(2 + 2 * sides.size());
  name_contract(contract, condition, parts);
  for (std::size_t at = 0; at < sides.size(); ++at) {
    const auto head = static_cast<Register>(parts + 1 + 2 * at);
    load_string(head, fmt::format("{}`{}` is ", at == 0 ? " (" : ", ", tree().text(sides[at])));
    into(sides[at], static_cast<Register>(head + 1));
  }
  load_string(static_cast<Register>(parts + 1 + 2 * sides.size()), ")");
  emit(Opcode::Template, to, parts, static_cast<std::uint16_t>(2 + 2 * sides.size()));
}

void ContractCompiler::judge_contracts(std::optional<Register> value, const Reasons& reasons) {
  std::vector<const Contract*> judged;
  for (const Contract& contract : declaration_.contracts) {
    if (contract.is_judged && is_of_value(contract) == value.has_value()) judged.push_back(&contract);
  }
  if (judged.empty()) return;
  // Those that the model may see are first.
  const auto hidden = std::stable_partition(
      judged.begin(), judged.end(), [](const Contract* contract) { return contract->kind == ContractKind::Ensures; });
  const auto shown_count = static_cast<std::uint16_t>(hidden - judged.begin());
  const Temporaries scope(*this);
  std::vector<std::size_t> skip = {jump_if_broken(reasons.all)};
  const Register requirements = allocate();
  const Register numbers = allocate();  // of the contracts in `judged`, one for each requirement
  emit(Opcode::MakeList, requirements, requirements, 0);
  emit(Opcode::MakeList, numbers, numbers, 0);
  bool may_be_empty = false;
  for (std::size_t at = 0; at < judged.size(); ++at) {
    const Temporaries text_scope(*this);
    const Register text = allocate();
    const Register number = allocate();
    if (judged[at]->result.exists()) scope_.set_local(judged[at]->result.index, *value);
    compute_text(*judged[at], text, reasons);
    const auto says_nothing = shown_contracts().jump_if_blank(judged[at]->expression, text);
    may_be_empty = may_be_empty || says_nothing;
    emit(Opcode::Push, requirements, text);
    load_integer(number, static_cast<std::int64_t>(at));
    emit(Opcode::Push, numbers, number);
    if (says_nothing) land(*says_nothing);
  }
  skip.push_back(jump_if_broken(reasons.all));
  const Register window = allocate(3);
  ask_judge(value, requirements, window, judged.size(), may_be_empty);

  const types::Module& contracts = program_.checked().modules[program_.checked().contracts_module.index];
  const std::uint32_t why = program_.instance(contracts.functions.at("why"), {});
  // Verdicts and requirements are in the same order.
  const Register loop = allocate(3);
  emit(Opcode::Take, loop, window);
  load_integer(static_cast<Register>(loop + 1), 0);
  const std::size_t start = emit_jump(Opcode::ForList, loop);
  {
    const Temporaries loop_scope(*this);
    const auto verdict = static_cast<Register>(loop + 2);
    const Register holds = allocate();
    emit(Opcode::GetField, holds, verdict, verdict_holds_field);
    land_at(emit_jump(Opcode::JumpIf, holds), start);
    // A call clears what is after its window.
    const Register index = allocate();
    const Register parts = allocate(3);
    emit(Opcode::AddI64Short, index, static_cast<Register>(loop + 1), static_cast<std::uint16_t>(-1));
    emit(Opcode::GetItem, parts, requirements, index);
    emit(Opcode::GetItem, index, numbers, index);
    load_string(static_cast<Register>(parts + 1), ": ");
    emit(Opcode::Move, static_cast<Register>(parts + 2), verdict);
    emit_wide(Opcode::Call, static_cast<Register>(parts + 2), why);
    emit(Opcode::Template, parts, parts, 3);
    emit(Opcode::Push, reasons.all, parts);
    for (std::size_t at = 0; reasons.which && at < judged.size(); ++at) {
      emit(Opcode::EqualShort, holds, index, static_cast<std::uint16_t>(at));
      const std::size_t other = emit_jump(Opcode::JumpUnless, holds);
      note_first(reasons, *judged[at]);
      land(other);
    }
    if (reasons.shown) {
      emit(Opcode::LessShort, holds, index, shown_count);
      land_at(emit_jump(Opcode::JumpUnless, holds), start);
      emit(Opcode::Push, *reasons.shown, parts);
    }
  }
  land_at(emit_jump(Opcode::Jump), start);
  land(start);
  land_all(skip);
}

/// window, three registers, = a list of verdicts, one for each of `requirements`, which are `count` or, if some texts
/// can be empty, fewer.
void ContractCompiler::ask_judge(std::optional<Register> value, Register requirements, Register window,
                                 std::size_t count, bool may_be_fewer) {
  TypeTable& types = program_.type_table();
  types::Refinement exactly;
  exactly.length_low = exactly.length_high = count;
  const TypeId verdicts = types.refined(types.list(program_.checked().verdict), exactly);
  const auto subject = static_cast<Register>(window + 1);
  const auto list = static_cast<Register>(window + 2);
  std::optional<std::size_t> fewer;
  if (may_be_fewer) {
    emit(Opcode::Length, window, requirements);
    fewer = emit_jump(Opcode::JumpUnless, compare_short(Opcode::EqualShort, window, static_cast<std::uint16_t>(count)));
  }
  emit(Opcode::NewContext, window);
  shown_contracts().describe_subject(value, subject);
  emit(Opcode::Move, list, requirements);
  emit_wide(Opcode::Call, window, program_.instance(program_.checked().judge, {verdicts}));
  if (!fewer) return;
  const std::size_t judged = emit_jump(Opcode::Jump);
  land(*fewer);
  const types::Module& contracts = program_.checked().modules[program_.checked().contracts_module.index];
  shown_contracts().describe_subject(value, window);
  emit(Opcode::Move, subject, requirements);
  emit_wide(Opcode::Call, window, program_.instance(contracts.functions.at("judge_each"), {}));
  land(judged);
}

Register ContractCompiler::compare_short(Opcode comparison, Register integer, std::uint16_t number) {
  const Temporaries scope(*this);
  const Register holds = allocate();
  emit(comparison, holds, integer, number);
  return holds;
}

std::size_t ContractCompiler::jump_if_broken(Register reasons) {
  const Temporaries scope(*this);
  const Register length = allocate();
  emit(Opcode::Length, length, reasons);
  emit(Opcode::EqualShort, length, length, 0);
  return emit_jump(Opcode::JumpUnless, length);
}

void ContractCompiler::compute_text(const Contract& contract, Register to, const Reasons& reasons) {
  const Temporaries scope(*this);
  const Register caught = allocate();
  const std::size_t begin = here();
  into(contract.expression, to);
  const std::size_t end = here();
  const std::size_t done = emit_jump(Opcode::Jump);
  add_handler(begin, end, here(), caught);
  const Register parts = allocate(3);
  load_string(parts, fmt::format("`{}`", tree().text(contract.expression)));
  load_string(static_cast<Register>(parts + 1), ": ");
  emit(Opcode::GetField, static_cast<Register>(parts + 2), caught, failure_message_field);
  emit(Opcode::Template, parts, parts, 3);
  add_reason(reasons, contract, parts);
  load_string(to, "");
  land(done);
}

void ContractCompiler::check_requirements() {
  if (!scope_.has_contract(false) || scope_.part == Part::Unguarded) return;
  const Temporaries scope(*this);
  const Reasons reasons{.all = allocate(), .which = allocate()};
  try_contracts(std::nullopt, reasons);
  fail_if_broken(reasons, broken_requires(), Opcode::BreakRequires);
}

std::string ContractCompiler::broken_requires() const {
  return fmt::format("violates `requires` of `{}`: ", declaration_.name);
}

void ContractCompiler::check_value(Register value) {
  const Temporaries scope(*this);
  const Reasons reasons{.all = allocate(), .which = allocate()};
  try_contracts(value, reasons);
  fail_if_broken(reasons, fmt::format("`{}` violates `ensures`: ", declaration_.name));
}

void ContractCompiler::fail_if_broken(const Reasons& reasons, const std::string& prefix, Opcode failing) {
  const Temporaries scope(*this);
  const Register length = allocate();
  emit(Opcode::Length, length, reasons.all);
  const Register holds = allocate();
  emit(Opcode::EqualShort, holds, length, 0);
  const std::size_t fine = emit_jump(Opcode::JumpIf, holds);
  const Register parts = allocate(2);
  load_string(parts, prefix);
  join_reasons(reasons.all, "; ", static_cast<Register>(parts + 1));
  const Register message = allocate();
  emit(Opcode::Template, message, parts, 2);
  break_contract(message, reasons, failing);
  land(fine);
}

void ContractCompiler::join_reasons(Register reasons, const std::string& separator, Register to) {
  const Temporaries scope(*this);
  const Register window = allocate(2);
  emit(Opcode::Move, window, reasons);
  load_string(static_cast<Register>(window + 1), separator);
  emit(Opcode::CallBuiltin, to, static_cast<std::uint16_t>(types::Builtin::ListJoin), window);
}

void ContractCompiler::break_contract(Register message, const Reasons& reasons, Opcode failing) {
  const Temporaries scope(*this);
  const Register first = allocate();
  load_integer(first, 0);
  emit(Opcode::GetItem, first, reasons.all, first);
  const Register is_it = allocate();
  for (std::size_t at = 0; reasons.which && at < declaration_.contracts.size(); ++at) {
    emit(Opcode::EqualShort, is_it, *reasons.which, static_cast<std::uint16_t>(at));
    const std::size_t other = emit_jump(Opcode::JumpUnless, is_it);
    this->at(declaration_.contracts[at].expression, true);
    emit(failing, message, first);
    land(other);
  }
  emit(failing, message, first);
}

void ContractCompiler::report_refusal(Register broken, Register answer, const std::string& name) {
  const Temporaries scope(*this);
  const Register text = allocate();
  emit(Opcode::Length, text, broken);
  emit(Opcode::EqualShort, text, text, 0);
  const std::size_t holds = emit_jump(Opcode::JumpIf, text);
  join_reasons(broken, "; ", text);
  agents().emit_notification(types::BuiltinEffect::AnswerRefused, name, {text, answer});
  land(holds);
}

void ContractCompiler::extern_call() {
  check_requirements();
  const Register window = allocate(std::max<std::size_t>(declaration_.parameters.size(), 1));
  for (std::size_t at = 0; at < declaration_.parameters.size(); ++at) {
    emit(Opcode::Move, static_cast<Register>(window + at), static_cast<Register>(at));
  }
  emit_wide(Opcode::CallExtern, window, program_.extern_instance(*declaration_.performs, {}));
  if (scope_.has_contract(true)) check_value(window);
  emit(Opcode::Return, window);
}

}  // namespace tenon::compiler
