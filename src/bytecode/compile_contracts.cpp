// Contracts are code around a function's body. `requires` is tried before it. `ensures` and `check` are tried on the
// value: one that the program gives is held against them once; one that a model gives is asked for again, by the
// function's strategy. What decides without a model comes first; what is judged goes to the judge in one call.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "bytecode/compiler.h"
#include "bytecode/early_contracts.h"
#include "diagnostics/kinds.h"

namespace tenon::bytecode {

using types::Contract;
using types::ContractKind;
using types::Strategy;
using types::TypeId;
using types::TypeTable;

namespace {

/// Of the record `Verdict` of stdlib/contracts.tn.
constexpr std::uint16_t verdict_holds_field = 0;
/// Characters of a value that a model is shown beside an expression; a longer one is not.
constexpr std::uint16_t shown_term_max = 200;

bool is_of_value(const Contract& contract) {
  return contract.kind != ContractKind::Requires;
}

}  // namespace

bool FunctionCompiler::has_contract(bool of_value) const {
  return std::any_of(declaration_.contracts.begin(), declaration_.contracts.end(),
                     [&](const Contract& contract) { return is_of_value(contract) == of_value; });
}

/// reasons = why contracts do not hold, a text each; of `value` or, without one, of the arguments.
void FunctionCompiler::try_contracts(std::optional<Register> value, const Reasons& reasons) {
  compute_contracts(value, reasons);
  judge_contracts(value, reasons);
}

/// The same of what needs no judge.
void FunctionCompiler::compute_contracts(std::optional<Register> value, const Reasons& reasons) {
  emit(Opcode::MakeList, reasons.all, reasons.all, 0);
  if (reasons.told) emit(Opcode::MakeList, *reasons.told, *reasons.told, 0);
  if (reasons.which) load_integer(*reasons.which, -1);
  for (const Contract& contract : declaration_.contracts) {
    if (is_of_value(contract) != value.has_value() || contract.is_judged) continue;
    if (part_ == Part::Early && !is_early(program_.checked(), declaration_, contract, holes_)) continue;
    const Temporaries scope(*this);
    if (contract.result.exists()) locals_[contract.result.index] = *value;
    const Register holds = allocate();
    const Register reason = allocate();
    const std::size_t begin = here();
    into(contract.expression, holds);
    const std::size_t end = here();
    const std::size_t held = emit_jump(Opcode::JumpIf, holds);
    explain_broken(contract, reason);
    const std::size_t told = emit_jump(Opcode::Jump);
    // What cannot be computed does not hold.
    add_handler(begin, end, here(), holds);
    const Register parts = allocate(3);
    name_contract(contract, parts);
    load_string(static_cast<Register>(parts + 1), ": ");
    emit(Opcode::GetField, static_cast<Register>(parts + 2), holds, failure_message_field);
    emit(Opcode::Template, reason, parts, 3);
    land(told);
    add_reason(reasons, contract, reason);
    land(held);
  }
}

void FunctionCompiler::add_reason(const Reasons& reasons, const Contract& contract, Register reason) {
  emit(Opcode::Push, reasons.all, reason);
  if (reasons.told && contract.kind == ContractKind::Ensures) emit(Opcode::Push, *reasons.told, reason);
  note_first(reasons, contract);
}

void FunctionCompiler::note_first(const Reasons& reasons, const Contract& contract) {
  if (!reasons.which) return;
  const Temporaries scope(*this);
  const Register is_first = allocate();
  emit(Opcode::EqualShort, is_first, *reasons.which, static_cast<std::uint16_t>(-1));
  const std::size_t later = emit_jump(Opcode::JumpUnless, is_first);
  load_integer(*reasons.which, &contract - declaration_.contracts.data());
  land(later);
}

/// to = the contract in words: those that are given for it, or its code.
void FunctionCompiler::name_contract(const Contract& contract, Register to) {
  if (contract.words.exists()) return into(contract.words, to);
  load_string(to, fmt::format("`{}`", tree().text(contract.expression)));
}

/// Of a comparison also what its left side is, where that is short.
void FunctionCompiler::explain_broken(const Contract& contract, Register to) {
  const NodeId expression = contract.expression;
  const NodeId left = tree().first(expression);
  const bool is_comparison = tree().kind(expression) == NodeKind::BinaryExpression &&
                             tree().kind(left) != NodeKind::IntegerExpression && is_plain(kind_of(left));
  if (!is_comparison || kind_of(left) == types::TypeKind::Boolean) return name_contract(contract, to);
  const Temporaries scope(*this);
  const Register parts = allocate(4);
  name_contract(contract, parts);
  load_string(static_cast<Register>(parts + 1), fmt::format(" (`{}` is ", tree().text(left)));
  into(left, static_cast<Register>(parts + 2));
  load_string(static_cast<Register>(parts + 3), ")");
  emit(Opcode::Template, to, parts, 4);
}

/// Nothing is judged when something is broken already.
void FunctionCompiler::judge_contracts(std::optional<Register> value, const Reasons& reasons) {
  std::vector<const Contract*> judged;
  for (const Contract& contract : declaration_.contracts) {
    if (contract.is_judged && is_of_value(contract) == value.has_value()) judged.push_back(&contract);
  }
  if (judged.empty()) return;
  // Those that the model may know of stand first.
  const auto hidden = std::stable_partition(
      judged.begin(), judged.end(), [](const Contract* contract) { return contract->kind == ContractKind::Ensures; });
  const auto told = static_cast<std::uint16_t>(hidden - judged.begin());
  const Temporaries scope(*this);
  std::vector<std::size_t> skip = {jump_if_broken(reasons.all)};
  const Register requirements = allocate();
  {
    const Temporaries texts_scope(*this);
    const Register texts = allocate(judged.size());
    for (std::size_t at = 0; at < judged.size(); ++at) {
      if (judged[at]->result.exists()) locals_[judged[at]->result.index] = *value;
      compute_text(*judged[at], static_cast<Register>(texts + at), reasons);
    }
    skip.push_back(jump_if_broken(reasons.all));
    emit(Opcode::MakeList, requirements, texts, static_cast<std::uint16_t>(judged.size()));
  }
  types::Refinement exactly;
  exactly.length_low = exactly.length_high = judged.size();
  TypeTable& types = program_.type_table();
  const TypeId verdicts = types.refined(types.list(program_.checked().verdict), exactly);
  const Register window = allocate(3);
  emit(Opcode::NewContext, window);
  describe_subject(value, static_cast<Register>(window + 1));
  emit(Opcode::Move, static_cast<Register>(window + 2), requirements);
  emit_wide(Opcode::Call, window, program_.instance(program_.checked().judge, {verdicts}));

  const types::Module& contracts = program_.checked().modules[program_.checked().contracts_module.index];
  const std::uint32_t why = program_.instance(contracts.functions.at("why"), {});
  // Verdicts and requirements stand in the same order.
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
    // A call clears what lies behind its window.
    const Register index = allocate();
    const Register parts = allocate(3);
    emit(Opcode::AddI64Short, index, static_cast<Register>(loop + 1), static_cast<std::uint16_t>(-1));
    emit(Opcode::GetItem, parts, requirements, index);
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
    if (reasons.told) {
      emit(Opcode::LessShort, holds, index, told);
      land_at(emit_jump(Opcode::JumpUnless, holds), start);
      emit(Opcode::Push, *reasons.told, parts);
    }
  }
  land_at(emit_jump(Opcode::Jump), start);
  land(start);
  land_all(skip);
}

std::size_t FunctionCompiler::jump_if_broken(Register reasons) {
  const Temporaries scope(*this);
  const Register length = allocate();
  emit(Opcode::Length, length, reasons);
  emit(Opcode::EqualShort, length, length, 0);
  return emit_jump(Opcode::JumpUnless, length);
}

/// to = the words that are judged. Those that cannot be computed do not hold.
void FunctionCompiler::compute_text(const Contract& contract, Register to, const Reasons& reasons) {
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

/// What is judged, in words: the function, its arguments and the value. A context and tools are no arguments of
/// interest, and a secret stays one.
void FunctionCompiler::describe_subject(std::optional<Register> value, Register to) {
  const Temporaries scope(*this);
  const TypeTable& types = program_.type_table();
  std::vector<std::pair<std::string, Register>> shown;
  for (std::size_t at = 0; at < function_.parameters.size(); ++at) {
    const TypeId type = function_.parameters[at];
    if (type == TypeTable::context || types.kind(type) == types::TypeKind::Tools || types::holds_secret(types, type)) {
      continue;
    }
    shown.emplace_back(function_.parameter_names[at], static_cast<Register>(at));
  }
  std::string head = fmt::format("The function: {}", declaration_.name);
  if (!declaration_.documentation.empty()) head += " // " + declaration_.documentation;
  const Register parts = allocate(1 + 2 * shown.size() + 2);
  load_string(parts, head);
  std::size_t next = 1;
  const auto add = [&](const std::string& name, Register from) {
    load_string(static_cast<Register>(parts + next), fmt::format("\n{}: ", name));
    emit(Opcode::Move, static_cast<Register>(parts + next + 1), from);
    next += 2;
  };
  for (const auto& [name, from] : shown) add("Its argument " + name, from);
  if (value && function_.result != TypeTable::unit) add("Its value", *value);
  emit(Opcode::Template, to, parts, static_cast<std::uint16_t>(next));
}

void FunctionCompiler::check_requirements() {
  if (!has_contract(false) || part_ == Part::Unguarded) return;
  const Temporaries scope(*this);
  const Reasons reasons{.all = allocate(), .which = allocate()};
  try_contracts(std::nullopt, reasons);
  fail_if_broken(reasons, broken_call());
}

std::string FunctionCompiler::broken_call() const {
  return fmt::format("the call breaks what `{}` requires: ", declaration_.name);
}

/// Of a value that the program itself has given.
void FunctionCompiler::check_value(Register value) {
  const Temporaries scope(*this);
  const Reasons reasons{.all = allocate(), .which = allocate()};
  try_contracts(value, reasons);
  fail_if_broken(reasons, fmt::format("`{}` breaks what it ensures: ", declaration_.name));
}

void FunctionCompiler::fail_if_broken(const Reasons& reasons, const std::string& whose) {
  const Temporaries scope(*this);
  const Register length = allocate();
  emit(Opcode::Length, length, reasons.all);
  const Register holds = allocate();
  emit(Opcode::EqualShort, holds, length, 0);
  const std::size_t fine = emit_jump(Opcode::JumpIf, holds);
  const Register parts = allocate(2);
  load_string(parts, whose);
  join_reasons(reasons.all, "; ", static_cast<Register>(parts + 1));
  const Register message = allocate();
  emit(Opcode::Template, message, parts, 2);
  break_contract(message, reasons);
  land(fine);
}

void FunctionCompiler::join_reasons(Register reasons, const std::string& separator, Register to) {
  const Temporaries scope(*this);
  const Register window = allocate(2);
  emit(Opcode::Move, window, reasons);
  load_string(static_cast<Register>(window + 1), separator);
  emit(Opcode::CallBuiltin, to, static_cast<std::uint16_t>(types::Builtin::ListJoin), window);
}

/// The failure's blame is the first of what is broken, and its place is there.
void FunctionCompiler::break_contract(Register message, const Reasons& reasons) {
  const Temporaries scope(*this);
  const Register first = allocate();
  load_integer(first, 0);
  emit(Opcode::GetItem, first, reasons.all, first);
  const Register is_it = allocate();
  for (std::size_t at = 0; reasons.which && at < declaration_.contracts.size(); ++at) {
    emit(Opcode::EqualShort, is_it, *reasons.which, static_cast<std::uint16_t>(at));
    const std::size_t other = emit_jump(Opcode::JumpUnless, is_it);
    this->at(declaration_.contracts[at].expression, true);
    emit(Opcode::BreakContract, message, first);
    land(other);
  }
  emit(Opcode::BreakContract, message, first);
}

/// Tells the model what its value has to satisfy. An expression is shown as it is written, with what its parameters
/// are.
void FunctionCompiler::inject_requirements() {
  bool first = true;
  for (const Contract& contract : declaration_.contracts) {
    if (contract.kind != ContractKind::Ensures) continue;
    const Temporaries scope(*this);
    const Register line = allocate();
    if (std::exchange(first, false)) {
      load_string(line, "Your answer has to satisfy:");
      emit(Opcode::Inject, function_.context_register, line);
    }
    const bool is_shown_whole = contract.words.exists() || contract.is_judged;
    std::vector<NodeId> terms;
    if (!is_shown_whole) list_terms(contract.expression, terms);
    const Register parts = allocate(2 + terms.size());
    const auto wording = static_cast<Register>(parts + 1);
    load_string(parts, "- ");
    if (contract.is_judged && speaks_of(contract.expression, contract.result)) {
      text_before_value(contract, wording);
    } else if (is_shown_whole) {
      into(contract.words.exists() ? contract.words : contract.expression, wording);
    } else {
      load_string(wording, std::string(tree().text(contract.expression)));
    }
    for (std::size_t at = 0; at < terms.size(); ++at) show_term(terms[at], static_cast<Register>(parts + 2 + at));
    emit(Opcode::Template, line, parts, static_cast<std::uint16_t>(2 + terms.size()));
    emit(Opcode::Inject, function_.context_register, line);
  }
}

/// What an expression says of the function's parameters and its agent's state: each of them, or the part of it that is
/// meant, once. A context, tools and secrets are left out.
void FunctionCompiler::list_terms(NodeId node, std::vector<NodeId>& terms) {
  NodeId root = node;
  while (tree().kind(root) == NodeKind::FieldExpression && facts(root).target.detail == 0) root = tree().first(root);
  const types::Target& target = facts(root).target;
  const bool is_parameter = target.kind == types::TargetKind::Local && target.index >= first_local_ &&
                            target.index < first_local_ + declaration_.parameters.size();
  if (tree().kind(root) != NodeKind::NameExpression || !(is_parameter || is_state(root))) {
    for (NodeId child = tree().first(node); child.exists(); child = tree().next(child)) list_terms(child, terms);
    return;
  }
  const TypeTable& types = program_.type_table();
  const types::TypeKind kind = kind_of(node);
  if (kind == types::TypeKind::Context || kind == types::TypeKind::Tools || kind == types::TypeKind::Unit ||
      types::holds_secret(types, type_of(node))) {
    return;
  }
  const bool is_listed =
      std::any_of(terms.begin(), terms.end(), [&](NodeId other) { return tree().text(other) == tree().text(node); });
  if (!is_listed) terms.push_back(node);
}

/// to = `, with limit = 20`. What is long stands in the context, or is none of the model's business: then it is empty.
void FunctionCompiler::show_term(NodeId term, Register to) {
  const Temporaries scope(*this);
  const Register parts = allocate(2);
  const auto value = static_cast<Register>(parts + 1);
  into(term, value);
  const types::TypeKind kind = kind_of(term);
  std::optional<std::size_t> too_long;
  if (!is_plain(kind)) {
    const bool is_text = kind == types::TypeKind::String || kind == types::TypeKind::Text;
    if (is_text) {
      emit(Opcode::CallBuiltin, value, static_cast<std::uint16_t>(types::Builtin::ToJson), value);
    } else {
      emit(Opcode::Render, value, value);
    }
    load_string(to, "");
    emit(Opcode::Length, parts, value);
    emit(Opcode::LessEqualShort, parts, parts, shown_term_max);
    too_long = emit_jump(Opcode::JumpUnless, parts);
  }
  load_string(parts, fmt::format(", with {} = ", tree().text(term)));
  emit(Opcode::Template, to, parts, 2);
  if (too_long) land(*too_long);
}

/// to = a text that speaks of the value, before there is one: what it says of that stands there as it is written.
void FunctionCompiler::text_before_value(const Contract& contract, Register to) {
  std::vector<syntax::StringPart> pieces;
  if (tree().kind(contract.expression) == NodeKind::StringExpression) {
    pieces = syntax::string_parts(tree(), contract.expression);
  }
  const bool has_section =
      std::any_of(pieces.begin(), pieces.end(), [&](const auto& piece) { return is_section(piece); });
  if (pieces.empty() || has_section) return load_string(to, std::string(tree().text(contract.expression)));
  for (syntax::StringPart& piece : pieces) {
    const auto* const hole = std::get_if<NodeId>(&piece);
    if (hole == nullptr || !speaks_of(*hole, contract.result)) continue;
    piece = fmt::format("`{}`", tree().text(tree().first(*hole)));
  }
  join_parts(pieces, to);
}

/// Tells the world why an answer is refused; nothing when it is not. `answer`: the key of its request.
void FunctionCompiler::report_refusal(Register broken, Register answer) {
  const Temporaries scope(*this);
  const Register text = allocate();
  emit(Opcode::Length, text, broken);
  emit(Opcode::EqualShort, text, text, 0);
  const std::size_t holds = emit_jump(Opcode::JumpIf, text);
  join_reasons(broken, "; ", text);
  report_to_world(types::WorldCall::AnswerRefused, declaration_.name, {text, answer});
  land(holds);
}

void FunctionCompiler::return_value(std::optional<Register> value) {
  if (return_by_finally(value)) return;
  if (returned_value_) {
    if (value) {
      emit(Opcode::Move, *returned_value_, *value);
    } else {
      emit(Opcode::LoadUnit, *returned_value_);
    }
    returns_.push_back(emit_jump(Opcode::Jump));
  } else if (value) {
    emit(Opcode::Return, *value);
  } else {
    emit(Opcode::ReturnUnit);
  }
}

/// The call of an extern between its `requires` and its `ensures`.
void FunctionCompiler::extern_call() {
  check_requirements();
  const Register window = allocate(std::max<std::size_t>(declaration_.parameters.size(), 1));
  for (std::size_t at = 0; at < declaration_.parameters.size(); ++at) {
    emit(Opcode::Move, static_cast<Register>(window + at), static_cast<Register>(at));
  }
  emit_wide(Opcode::CallExtern, window, program_.extern_instance(*declaration_.performs, {}));
  if (has_contract(true)) check_value(window);
  emit(Opcode::Return, window);
}

}  // namespace tenon::bytecode
