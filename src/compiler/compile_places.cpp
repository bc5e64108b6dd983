// In-place changes of variables: assignments, and the built-in methods, some of which modify their receiver.

#include <optional>

#include "compiler/call_compiler.h"
#include "compiler/expression_compiler.h"
#include "compiler/place_compiler.h"
#include "compiler/tool_compiler.h"
#include "types/builtin_methods.h"

namespace tenon::compiler {

using types::TargetKind;
using types::TypeId;
using types::TypeKind;

/// Evaluates the indices from left to right.
Lvalue PlaceCompiler::lvalue_of(NodeId node) {
  Lvalue place;
  place.node = node;
  std::vector<NodeId> nodes;
  NodeId variable = node;
  while (tree().kind(variable) == NodeKind::FieldExpression || tree().kind(variable) == NodeKind::IndexExpression) {
    nodes.push_back(variable);
    variable = tree().first(variable);
  }
  place.is_state = scope_.is_state(variable);
  place.root = expressions().local_register(facts(variable).target.index);
  for (std::size_t at = nodes.size(); at-- > 0;) {
    Step step;
    step.is_field = tree().kind(nodes[at]) == NodeKind::FieldExpression;
    if (step.is_field) {
      step.field = static_cast<std::uint16_t>(facts(nodes[at]).target.index);
    } else {
      step.is_map = kind_of(tree().first(nodes[at])) == TypeKind::Map;
      step.index = allocate();
      into(tree().next(tree().first(nodes[at])), step.index);
    }
    place.steps.push_back(step);
  }
  return place;
}

void PlaceCompiler::read_place(const Lvalue& place, Register to) {
  Register from = place.root;
  if (place.is_state) {
    emit(Opcode::LoadState, to);
    from = to;
  } else if (place.steps.empty()) {
    emit(Opcode::Move, to, from);
  }
  for (const Step& step : place.steps) {
    get_step(to, from, step);
    from = to;
  }
}

/// The value, in a separate register if it is the variable that is changed, because that will be taken apart.
Register PlaceCompiler::apart_from(const Lvalue& place, Register value) {
  if (value != place.root) return value;
  const Register copy = allocate();
  emit(Opcode::Move, copy, value);
  return copy;
}

void PlaceCompiler::get_step(Register to, Register from, const Step& step) {
  if (step.is_field) {
    emit(Opcode::GetField, to, from, step.field);
  } else {
    emit(step.is_map ? Opcode::GetEntry : Opcode::GetItem, to, from, step.index);
  }
}

void PlaceCompiler::take_step(Register to, Register from, const Step& step) {
  if (step.is_field) {
    emit(Opcode::TakeField, to, from, step.field);
  } else {
    emit(step.is_map ? Opcode::TakeEntry : Opcode::TakeItem, to, from, step.index);
  }
}

void PlaceCompiler::put_step(Register owner, Register value, const Step& step) {
  if (step.is_field) {
    emit(Opcode::SetField, owner, step.field, value);
  } else {
    emit(step.is_map ? Opcode::SetEntry : Opcode::SetItem, owner, step.index, value);
  }
}

/// Changes a value inside a variable: takes it out of its container, so that there are no other references and the
/// change does not need a copy, and puts it back. Everything that can fail is checked first, so that nothing is lost
/// halfway.
template <class Change>
void PlaceCompiler::change_place(const Lvalue& place, const Change& change) {
  const Temporaries scope(*this);
  if (place.steps.size() > 1) {
    const Register probe = allocate();
    read_place(place, probe);
    emit(Opcode::LoadUnit, probe);
  }
  if (place.is_state) emit(Opcode::TakeState, place.root);
  std::vector<Register> held = {place.root};
  for (const Step& step : place.steps) {
    const Register inner = allocate();
    take_step(inner, held.back(), step);
    held.push_back(inner);
  }
  change(held.back());
  for (std::size_t at = place.steps.size(); at-- > 0;) {
    put_step(held[at], held[at + 1], place.steps[at]);
    emit(Opcode::LoadUnit, held[at + 1]);
  }
  if (place.is_state) emit(Opcode::StoreState, place.root);
}

/// What a method changes. If the type of the container has a refinement, the change is made separately and checked.
template <class Change>
void PlaceCompiler::change_receiver(const Lvalue& place, const Change& change) {
  const TypeId type = type_of(place.node);
  if (program_.type_table().kind(type) != TypeKind::Refined) return change_place(place, change);
  const Temporaries scope(*this);
  const Register changed = allocate();
  read_place(place, changed);
  change(changed);
  emit(Opcode::Check, changed, program_.type_operand(type));
  set_place(place, changed);
}

void PlaceCompiler::set_place(const Lvalue& place, Register value) {
  if (place.steps.empty()) {
    if (place.is_state) {
      emit(Opcode::StoreState, value);
    } else {
      emit(Opcode::Move, place.root, value);
    }
    return;
  }
  Lvalue owner = place;
  const Step last = owner.steps.back();
  owner.steps.pop_back();
  if (!last.is_field && !last.is_map && !owner.steps.empty()) {
    // A missing index must be reported before anything is taken apart.
    const Temporaries scope(*this);
    const Register probe = allocate();
    read_place(place, probe);
    emit(Opcode::LoadUnit, probe);
  }
  change_place(owner, [&](Register held) { put_step(held, value, last); });
}

/// `s = s + a + b` on a string appends, so that building a string piece by piece takes linear time.
bool PlaceCompiler::append_assignment(NodeId place, NodeId value) {
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
    if (scope_.changes_variables(piece)) return false;
  }
  const Register text = expressions().local_register(facts(place).target.index);
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

void PlaceCompiler::assignment(NodeId node) {
  const NodeId place = tree().first(node);
  const NodeId value = tree().next(place);
  const TokenKind operation = tree().tokens[tree()[node].main_token].kind;
  if (operation == TokenKind::Equal) {
    if (append_assignment(place, value)) return;
    if (tree().kind(place) == NodeKind::NameExpression && !scope_.is_state(place)) {
      // Evaluated separately: a failure halfway must not change the variable.
      const bool simple = !scope_.changes_variables(value) && tree().kind(value) != NodeKind::TryExpression &&
                          tree().kind(value) != NodeKind::CatchExpression && !facts(value).narrowed_to.exists();
      if (simple) return expressions().into_variable(value, expressions().local_register(facts(place).target.index));
    }
    const Register result = allocate();
    into(value, result);
    at(place);
    return set_place(lvalue_of(place), result);
  }
  const TypeId type = type_of(place);
  const bool is_text = scope_.operand_kind(type) == TypeKind::String;
  if (is_text && tree().kind(place) == NodeKind::NameExpression && !facts(node).narrowed_to.exists()) {
    const Register text = expressions().local_register(facts(place).target.index);
    Register piece = operand(value);
    if (piece == text) {
      piece = allocate();
      emit(Opcode::Move, piece, text);
    }
    emit(Opcode::Append, text, piece);
    return;
  }
  const Lvalue changed = lvalue_of(place);
  Register before = changed.root;
  if (!changed.steps.empty() || scope_.changes_variables(value)) {
    before = allocate();
    read_place(changed, before);
  }
  const Register other = operand(value);
  at(node, true);
  const Register result = allocate();
  if (is_text) {
    emit(Opcode::Concatenate, result, before, other);
  } else if (scope_.operand_kind(type) == TypeKind::List || scope_.operand_kind(type) == TypeKind::Tools) {
    const bool is_list = scope_.operand_kind(type) == TypeKind::List;
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
    expressions().arithmetic(node, plain, type, result, before, other);
  }
  expressions().narrow(node, result);
  set_place(changed, result);
}

bool PlaceCompiler::unit_method(NodeId node, NodeId receiver_node, std::span<const NodeId> arguments) {
  using types::BuiltinMethod;
  const auto method = static_cast<BuiltinMethod>(facts(node).target.index);
  const bool gives_something =
      method == BuiltinMethod::Pop || method == BuiltinMethod::RemoveAt || method == BuiltinMethod::MapRemove;
  if (!types::changes_receiver(method) || gives_something) return false;
  at(node, true);
  const Lvalue place = lvalue_of(receiver_node);
  std::optional<Register> first;
  if (arguments.size() > 1) {
    first = allocate();
    into(arguments[0], *first);
  }
  const Register value = apart_from(place, operand(arguments.back()));
  at(node, true);
  switch (method) {
    case BuiltinMethod::Say: {
      const auto role = static_cast<std::uint16_t>(EntryRole::Assistant);
      change_receiver(place, [&](Register held) { emit(Opcode::InjectAs, held, value, role); });
      break;
    }
    case BuiltinMethod::InjectAs:
      change_receiver(place, [&](Register held) { emit(Opcode::InjectRole, held, value, *first); });
      break;
    case BuiltinMethod::Push:
      change_receiver(place, [&](Register held) { emit(Opcode::Push, held, value); });
      break;
    case BuiltinMethod::Inject:
      change_receiver(place, [&](Register held) { emit(Opcode::Inject, held, value); });
      break;
    case BuiltinMethod::MapInsert:
      change_receiver(place, [&](Register held) { emit(Opcode::SetEntry, held, *first, value); });
      break;
    default:
      // Fails for a missing position: on a copy first if the list must be taken out of something.
      if (!place.steps.empty()) {
        const Temporaries scope(*this);
        const Register probe = allocate();
        read_place(place, probe);
        emit(Opcode::InsertItem, probe, *first, value);
        emit(Opcode::LoadUnit, probe);
      }
      change_receiver(place, [&](Register held) { emit(Opcode::InsertItem, held, *first, value); });
      break;
  }
  return true;
}

void PlaceCompiler::builtin_method(NodeId node, Register receiver, NodeId receiver_node,
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
    case BuiltinMethod::CallTool:
      return tools().named_tool(receiver, operand(arguments[0]), operand(arguments[1]), to);
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
      const Lvalue place = lvalue_of(receiver_node);
      at(node, true);
      const Register result = allocate();
      change_receiver(place, [&](Register held) { emit(Opcode::Pop, result, held); });
      emit(Opcode::Take, to, result);
      return;
    }
    case BuiltinMethod::RemoveAt:
    case BuiltinMethod::MapRemove: {
      const Lvalue place = lvalue_of(receiver_node);
      const Register key = allocate();
      into(arguments[0], key);
      const Register result = allocate();
      at(node, true);
      if (method == BuiltinMethod::MapRemove) {
        change_receiver(place, [&](Register held) { emit(Opcode::RemoveEntry, result, held, key); });
      } else {
        if (!place.steps.empty()) {
          const Temporaries scope(*this);
          const Register probe = allocate();
          read_place(place, probe);
          emit(Opcode::GetItem, result, probe, key);
          emit(Opcode::LoadUnit, probe);
          emit(Opcode::LoadUnit, result);
        }
        change_receiver(place, [&](Register held) { emit(Opcode::RemoveItem, result, held, key); });
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
      return calls().closure_loop(node, method, receiver, arguments, to);
  }
}

}  // namespace tenon::compiler
