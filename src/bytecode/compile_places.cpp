// Changes of variables in place: assignments, and the built-in methods, of which some change their receiver.

#include "bytecode/compiler.h"

namespace tenon::bytecode {

using types::TargetKind;
using types::TypeId;
using types::TypeKind;

/// The variable that a place is in, and the way from it. Indices are evaluated, left to right.
std::vector<FunctionCompiler::Step> FunctionCompiler::steps_of(NodeId place, Register& root) {
  std::vector<NodeId> nodes;
  while (tree().kind(place) == NodeKind::FieldExpression || tree().kind(place) == NodeKind::IndexExpression) {
    nodes.push_back(place);
    place = tree().first(place);
  }
  root = local_register(facts(place).target.index);
  std::vector<Step> steps;
  for (std::size_t at = nodes.size(); at-- > 0;) {
    const NodeId node = nodes[at];
    Step step;
    step.is_field = tree().kind(node) == NodeKind::FieldExpression;
    if (step.is_field) {
      step.field = static_cast<std::uint16_t>(facts(node).target.index);
    } else {
      step.is_map = kind_of(tree().first(node)) == TypeKind::Map;
      step.index = allocate();
      into(tree().next(tree().first(node)), step.index);
    }
    steps.push_back(step);
  }
  return steps;
}

void FunctionCompiler::get_step(Register to, Register from, const Step& step) {
  if (step.is_field) {
    emit(Opcode::GetField, to, from, step.field);
  } else {
    emit(step.is_map ? Opcode::GetEntry : Opcode::GetItem, to, from, step.index);
  }
}

void FunctionCompiler::take_step(Register to, Register from, const Step& step) {
  if (step.is_field) {
    emit(Opcode::TakeField, to, from, step.field);
  } else {
    emit(step.is_map ? Opcode::TakeEntry : Opcode::TakeItem, to, from, step.index);
  }
}

void FunctionCompiler::put_step(Register owner, Register value, const Step& step) {
  if (step.is_field) {
    emit(Opcode::SetField, owner, step.field, value);
  } else {
    emit(step.is_map ? Opcode::SetEntry : Opcode::SetItem, owner, step.index, value);
  }
}

/// Changes a value inside of a variable: takes it out of what holds it, so that nobody else refers to it and the change
/// needs no copy, and puts it back. Whatever can fail on the way is tried first, so that nothing is lost half-way.
template <class Change>
void FunctionCompiler::change_place(NodeId place, const Change& change) {
  const Temporaries scope(*this);
  Register root = 0;
  const std::vector<Step> steps = steps_of(place, root);
  if (steps.size() > 1) {
    const Register probe = allocate();
    get_step(probe, root, steps[0]);
    for (std::size_t at = 1; at < steps.size(); ++at) get_step(probe, probe, steps[at]);
    emit(Opcode::LoadUnit, probe);
  }
  NodeId variable = place;
  while (tree().kind(variable) == NodeKind::FieldExpression || tree().kind(variable) == NodeKind::IndexExpression) {
    variable = tree().first(variable);
  }
  if (is_state(variable)) emit(Opcode::TakeState, root);
  std::vector<Register> held = {root};
  for (const Step& step : steps) {
    const Register inner = allocate();
    take_step(inner, held.back(), step);
    held.push_back(inner);
  }
  change(held.back());
  for (std::size_t at = steps.size(); at-- > 0;) {
    put_step(held[at], held[at + 1], steps[at]);
    emit(Opcode::LoadUnit, held[at + 1]);
  }
  if (is_state(variable)) emit(Opcode::StoreState, root);
}

void FunctionCompiler::set_place(NodeId place, Register value) {
  const NodeKind kind = tree().kind(place);
  if (kind == NodeKind::NameExpression && is_state(place)) {
    emit(Opcode::StoreState, value);
    return;
  }
  if (kind == NodeKind::NameExpression) {
    emit(Opcode::Move, local_register(facts(place).target.index), value);
    return;
  }
  const NodeId owner = tree().first(place);
  Step last;
  last.is_field = kind == NodeKind::FieldExpression;
  if (last.is_field) {
    last.field = static_cast<std::uint16_t>(facts(place).target.index);
  } else {
    last.is_map = kind_of(owner) == TypeKind::Map;
    last.index = allocate();
    into(tree().next(owner), last.index);
  }
  if (!last.is_field && !last.is_map && tree().kind(owner) != NodeKind::NameExpression) {
    // An index that is not there must be told before anything is taken apart.
    const Temporaries scope(*this);
    const Register probe = operand(owner);
    const Register item = allocate();
    emit(Opcode::GetItem, item, probe, last.index);
    emit(Opcode::LoadUnit, item);
    emit(Opcode::LoadUnit, probe);
  }
  change_place(owner, [&](Register held) { put_step(held, value, last); });
}

/// `s = s + a + b` on a text appends, so that building one piece by piece takes linear time.
bool FunctionCompiler::append_assignment(NodeId place, NodeId value) {
  if (tree().kind(place) != NodeKind::NameExpression || kind_of(place) != TypeKind::String) return false;
  if (facts(value).narrowed_to.exists()) return false;
  std::vector<NodeId> pieces;
  while (tree().kind(value) == NodeKind::BinaryExpression && tree().main_text(value) == "+") {
    const NodeId left = tree().first(value);
    pieces.push_back(tree().next(left));
    value = left;
  }
  const bool same = tree().kind(value) == NodeKind::NameExpression && facts(value).target.kind == TargetKind::Local &&
                    facts(value).target.index == facts(place).target.index;
  if (pieces.empty() || !same) return false;
  for (const NodeId piece : pieces) {
    if (changes_variables(piece)) return false;
  }
  const Register text = local_register(facts(place).target.index);
  std::vector<Register> values;
  for (std::size_t at = pieces.size(); at-- > 0;) {
    Register piece = operand(pieces[at]);
    if (piece == text) {
      piece = allocate();
      emit(Opcode::Move, piece, text);
    }
    values.push_back(piece);
  }
  for (const Register piece : values) emit(Opcode::Append, text, piece);
  return true;
}

void FunctionCompiler::assignment(NodeId node) {
  const NodeId place = tree().first(node);
  const NodeId value = tree().next(place);
  const TokenKind operation = tree().tokens[tree()[node].main_token].kind;
  if (operation == TokenKind::Equal) {
    if (append_assignment(place, value)) return;
    if (tree().kind(place) == NodeKind::NameExpression && !is_state(place)) {
      // Evaluated apart: a failure half-way must leave the variable as it was.
      const bool simple = !changes_variables(value) && tree().kind(value) != NodeKind::TryExpression &&
                          tree().kind(value) != NodeKind::CatchExpression && !facts(value).narrowed_to.exists();
      if (simple) return into_variable(value, local_register(facts(place).target.index));
    }
    const Register result = allocate();
    into(value, result);
    at(place);
    return set_place(place, result);
  }
  const TypeId type = type_of(place);
  const bool is_text = base_kind(type) == TypeKind::String;
  if (is_text && tree().kind(place) == NodeKind::NameExpression && !facts(node).narrowed_to.exists()) {
    const Register text = local_register(facts(place).target.index);
    Register piece = operand(value);
    if (piece == text) {
      piece = allocate();
      emit(Opcode::Move, piece, text);
    }
    emit(Opcode::Append, text, piece);
    return;
  }
  const Register before = stable_operand(place, value);
  const Register other = operand(value);
  at(node, true);
  const Register result = allocate();
  if (is_text) {
    emit(Opcode::Concatenate, result, before, other);
  } else if (base_kind(type) == TypeKind::List || base_kind(type) == TypeKind::Tools) {
    const bool is_list = base_kind(type) == TypeKind::List;
    const types::Builtin joined = is_list ? types::Builtin::ListConcatenate : types::Builtin::ToolsJoin;
    const Register window = allocate(2);
    emit(Opcode::Move, window, before);
    emit(Opcode::Move, static_cast<Register>(window + 1), other);
    emit(Opcode::CallBuiltin, result, static_cast<std::uint16_t>(joined), window);
  } else {
    const TokenKind plain = operation == TokenKind::PlusEqual    ? TokenKind::Plus
                            : operation == TokenKind::MinusEqual ? TokenKind::Minus
                            : operation == TokenKind::StarEqual  ? TokenKind::Star
                            : operation == TokenKind::SlashEqual ? TokenKind::Slash
                                                                 : TokenKind::Percent;
    arithmetic(node, plain, type, result, before, other);
  }
  narrow(node, result);
  set_place(place, result);
}

bool FunctionCompiler::unit_method(NodeId node, NodeId receiver_node, std::span<const NodeId> arguments) {
  using types::BuiltinMethod;
  const auto method = static_cast<BuiltinMethod>(facts(node).target.index);
  if (method == BuiltinMethod::Say) {
    const Register value = operand(arguments[0]);
    at(node, true);
    const auto role = static_cast<std::uint16_t>(EntryRole::Assistant);
    change_place(receiver_node, [&](Register held) { emit(Opcode::InjectAs, held, value, role); });
    return true;
  }
  if (method == BuiltinMethod::InjectAs) {
    const Register role = allocate();
    into(arguments[0], role);
    const Register value = operand(arguments[1]);
    at(node, true);
    change_place(receiver_node, [&](Register held) { emit(Opcode::InjectRole, held, value, role); });
    return true;
  }
  if (method == BuiltinMethod::Push || method == BuiltinMethod::Inject) {
    at(node, true);
    const Register value = operand(arguments[0]);
    const Opcode opcode = method == BuiltinMethod::Push ? Opcode::Push : Opcode::Inject;
    at(node, true);
    change_place(receiver_node, [&](Register held) { emit(opcode, held, value); });
    return true;
  }
  if (method != BuiltinMethod::Insert && method != BuiltinMethod::MapInsert) return false;
  at(node, true);
  const Register key = allocate();
  into(arguments[0], key);
  const Register value = operand(arguments[1]);
  at(node, true);
  if (method == BuiltinMethod::MapInsert) {
    change_place(receiver_node, [&](Register held) { emit(Opcode::SetEntry, held, key, value); });
    return true;
  }
  // Fails on a position that is not there: on a copy first when the list has to be taken out of something.
  if (tree().kind(receiver_node) != NodeKind::NameExpression) {
    const Temporaries scope(*this);
    const Register probe = allocate();
    into(receiver_node, probe);
    emit(Opcode::InsertItem, probe, key, value);
    emit(Opcode::LoadUnit, probe);
  }
  change_place(receiver_node, [&](Register held) { emit(Opcode::InsertItem, held, key, value); });
  return true;
}

void FunctionCompiler::builtin_method(NodeId node, Register receiver, NodeId receiver_node,
                                      std::span<const NodeId> arguments, Register to) {
  using types::BuiltinMethod;
  const auto method = static_cast<BuiltinMethod>(facts(node).target.index);
  switch (method) {
    case BuiltinMethod::Length:
      emit(Opcode::Length, to, receiver);
      return;
    case BuiltinMethod::IsEmpty: {
      const Register length = allocate();
      emit(Opcode::Length, length, receiver);
      emit(Opcode::EqualShort, to, length, 0);
      return;
    }
    case BuiltinMethod::ToString:
      emit(Opcode::Render, to, receiver);
      return;
    case BuiltinMethod::Clone:
      emit(Opcode::Move, to, receiver);
      return;
    case BuiltinMethod::IsSome:
    case BuiltinMethod::IsNone:
    case BuiltinMethod::IsOk:
    case BuiltinMethod::IsErr: {
      const Register which = allocate();
      emit(Opcode::GetCase, which, receiver);
      emit(Opcode::EqualShort, to, which, method == BuiltinMethod::IsSome || method == BuiltinMethod::IsErr ? 1 : 0);
      return;
    }
    case BuiltinMethod::UnwrapOr: {
      // The other value is always evaluated, as in Rust.
      const Register other = operand(arguments[0]);
      const Register which = allocate();
      const bool option = kind_of(receiver_node) == TypeKind::Option;
      emit(Opcode::GetCase, which, receiver);
      emit(Opcode::EqualShort, which, which, option ? 1 : 0);
      const std::size_t absent = emit_jump(Opcode::JumpUnless, which);
      emit(Opcode::GetPayload, to, receiver, 0);
      const std::size_t end = emit_jump(Opcode::Jump);
      land(absent);
      emit(Opcode::Move, to, other);
      land(end);
      return;
    }
    case BuiltinMethod::Entries:
      return static_cast<void>(
          emit(Opcode::ContextEntries, to, receiver, program_.type_operand(program_.type_table().context_entry())));
    case BuiltinMethod::Push:
    case BuiltinMethod::Inject:
    case BuiltinMethod::InjectAs:
    case BuiltinMethod::Say:
    case BuiltinMethod::Insert:
    case BuiltinMethod::MapInsert:
      unit_method(node, receiver_node, arguments);
      emit(Opcode::LoadUnit, to);
      return;
    case BuiltinMethod::Pop: {
      const Register result = allocate();
      change_place(receiver_node, [&](Register held) { emit(Opcode::Pop, result, held); });
      emit(Opcode::Take, to, result);
      return;
    }
    case BuiltinMethod::RemoveAt:
    case BuiltinMethod::MapRemove: {
      const Register key = allocate();
      into(arguments[0], key);
      const Register result = allocate();
      at(node, true);
      if (method == BuiltinMethod::MapRemove) {
        change_place(receiver_node, [&](Register held) { emit(Opcode::RemoveEntry, result, held, key); });
      } else {
        if (tree().kind(receiver_node) != NodeKind::NameExpression) {
          const Temporaries scope(*this);
          const Register probe = operand(receiver_node);
          emit(Opcode::GetItem, result, probe, key);
          emit(Opcode::LoadUnit, probe);
          emit(Opcode::LoadUnit, result);
        }
        change_place(receiver_node, [&](Register held) { emit(Opcode::RemoveItem, result, held, key); });
      }
      emit(Opcode::Take, to, result);
      return;
    }
    case BuiltinMethod::Map:
    case BuiltinMethod::Filter:
    case BuiltinMethod::Any:
    case BuiltinMethod::All:
    case BuiltinMethod::Find:
    case BuiltinMethod::Fold:
    case BuiltinMethod::OptionMap:
      return closure_loop(node, method, receiver, arguments, to);
  }
}

}  // namespace tenon::bytecode
