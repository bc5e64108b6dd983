// Expressions: each is compiled into a register, or names the register that already contains its value.

#include <cmath>

#include "base/ensure.h"
#include "compiler/agent_compiler.h"
#include "compiler/call_compiler.h"
#include "compiler/control_compiler.h"
#include "compiler/exit_compiler.h"
#include "compiler/expression_compiler.h"
#include "compiler/place_compiler.h"
#include "compiler/pursue_compiler.h"
#include "compiler/statement_compiler.h"
#include "compiler/template_compiler.h"
#include "compiler/tool_compiler.h"
#include "syntax/literals.h"
#include "types/table/type_parts.h"

namespace tenon::compiler {

using types::TargetKind;
using types::TypeId;
using types::TypeKind;

using types::TypeTable;

void ExpressionCompiler::into(NodeId node, Register to) {
  value_into(node, to);
  narrow(node, to);
}

Register ExpressionCompiler::operand(NodeId node) {
  NodeId inner = node;
  while (tree().kind(inner) == NodeKind::ParenthesizedExpression && !facts(inner).narrowed_to.exists())
    inner = tree().first(inner);
  if (tree().kind(inner) == NodeKind::NameExpression && facts(inner).target.kind == TargetKind::Local) {
    const Register local = local_register(facts(inner).target.index);
    narrow(inner, local);
    return local;
  }
  const Register value = allocate();
  into(node, value);
  return value;
}

Register ExpressionCompiler::stable_operand(NodeId node, NodeId later) {
  if (!scope_.changes_variables(later)) return operand(node);
  const Register value = allocate();
  into(node, value);
  return value;
}

void ExpressionCompiler::drop(NodeId node) {
  const Temporaries scope(*this);
  switch (tree().kind(node)) {
    case NodeKind::IfExpression:
      return control().if_expression(node, std::nullopt);
    case NodeKind::MatchExpression:
      return control().match(node, std::nullopt);
    case NodeKind::SelectExpression:
      return control().select(node, std::nullopt);
    case NodeKind::ForExpression:
      return control().for_loop(node, std::nullopt);
    case NodeKind::ParallelExpression:
      return control().parallel(node, std::nullopt);
    case NodeKind::CatchExpression:
      return control().catch_expression(node, std::nullopt);
    case NodeKind::FinallyExpression:
      return exits().finally_expression(node, std::nullopt);
    case NodeKind::ShieldExpression:
      return exits().shield_expression(node, std::nullopt);
    case NodeKind::Block:
      return statements().block(node, std::nullopt);
    default:
      break;
  }
  if (tree().kind(node) == NodeKind::MethodCallExpression && facts(node).target.kind == TargetKind::Method &&
      facts(node).target.detail == 0 &&
      places().unit_method(node, tree().first(node), tree().children(tree().find_child(node, NodeKind::Arguments)))) {
    return;
  }
  const Register value = allocate();
  value_into(node, value);
  // An unused value must not keep an object alive: a shared object is copied when it is changed.
  if (!is_plain(kind_of(node))) emit(Opcode::LoadUnit, value);
}

void ExpressionCompiler::into_variable(NodeId node, Register to) {
  const Temporaries scope(*this);
  // A register after the variable prevents the windows of calls from starting at the variable.
  if (emitter_.is_newest(to)) allocate();
  into(node, to);
}

void ExpressionCompiler::value_into(NodeId node, Register to) {
  const Temporaries scope(*this);
  const NodeKind kind = tree().kind(node);
  switch (kind) {
    case NodeKind::IntegerExpression:
    case NodeKind::UnaryExpression:
      if (const auto literal = scope_.literal_integer(node)) return load_integer(to, *literal);
      return unary(node, to);
    case NodeKind::FloatExpression:
      emit_wide(Opcode::LoadConstant, to, program_.constant(syntax::float_value(tree().text(node)).value_or(0.0)));
      return;
    case NodeKind::BooleanExpression:
      emit(Opcode::LoadBoolean, to, tree().text(node) == "true" ? 1 : 0);
      return;
    case NodeKind::StringExpression:
      return templates().string(node, to);
    case NodeKind::NameExpression:
      return name(node, to);
    case NodeKind::ParenthesizedExpression:
      return into(tree().first(node), to);
    case NodeKind::TupleExpression:
      return tuple(node, to);
    case NodeKind::ListExpression:
      return list(node, to);
    case NodeKind::StructExpression:
      return structure(node, to);
    case NodeKind::BinaryExpression:
      return binary(node, to);
    case NodeKind::CastExpression:
      return cast(node, to);
    case NodeKind::CallExpression:
      return calls().call(node, to, std::nullopt);
    case NodeKind::MethodCallExpression:
      return calls().method_call(node, to, std::nullopt);
    case NodeKind::FieldExpression:
      return field(node, to);
    case NodeKind::IndexExpression:
      return index(node, to);
    case NodeKind::IfExpression:
      return control().if_expression(node, to);
    case NodeKind::MatchExpression:
      return control().match(node, to);
    case NodeKind::SelectExpression:
      return control().select(node, to);
    case NodeKind::ToolsExpression:
      return tools().tool_set(node, to);
    case NodeKind::ForExpression:
      return control().for_loop(node, to);
    case NodeKind::ParallelExpression:
      return control().parallel(node, to);
    case NodeKind::Block:
      return statements().block(node, to);
    case NodeKind::TryExpression:
      return control().try_expression(node, to);
    case NodeKind::CatchExpression:
      return control().catch_expression(node, to);
    case NodeKind::FinallyExpression:
      return exits().finally_expression(node, to);
    case NodeKind::ShieldExpression:
      return exits().shield_expression(node, to);
    case NodeKind::PursueExpression:
      return pursuits().pursue(node, to);
    case NodeKind::BudgetExpression:
    case NodeKind::StrategyExpression: {
      const auto [call_node, budget] = calls().take_limits(node);
      if (tree().kind(call_node) == NodeKind::MethodCallExpression) return calls().method_call(call_node, to, budget);
      return calls().call(call_node, to, budget);
    }
    case NodeKind::ReturnExpression: {
      const NodeId value = tree().first(node);
      if (declaration_.role == types::FunctionRole::Instructions) {
        if (value.exists()) static_cast<void>(operand(value));
        return agents().return_instructions();
      }
      if (!value.exists()) return exits().return_value(std::nullopt);
      const Register result = operand(value);
      if (facts(value).narrowed_to.exists() && tree().kind(value) == NodeKind::NameExpression) at(node);
      return exits().return_value(result);
    }
    case NodeKind::BreakExpression:
    case NodeKind::ContinueExpression:
      return exits().leave_loop(tree().kind(node));
    default:
      break;
  }
  ENSURE(false);  // the checker rejects all other nodes
}

void ExpressionCompiler::name(NodeId node, Register to) {
  const types::Target& target = facts(node).target;
  if (target.kind == TargetKind::Local) {
    const Register local = local_register(target.index);
    if (local != to) emit(Opcode::Move, to, local);
    return;
  }
  const TypeId type = type_of(node);
  const bool option = scope_.operand_kind(type) == TypeKind::Option;
  emit(Opcode::LoadCase, to, program_.type_operand(option ? TypeTable::any_option : program_.type_table().base(type)),
       static_cast<std::uint16_t>(target.detail));
}

void ExpressionCompiler::unary(NodeId node, Register to) {
  const NodeId inner = tree().first(node);
  const Register value = operand(inner);
  at(node, true);
  if (tree().main_text(node) == "!") {
    emit(Opcode::Not, to, value);
    return;
  }
  const TypeKind kind = kind_of(node);
  emit(kind == TypeKind::F64   ? Opcode::NegateF64
       : kind == TypeKind::I32 ? Opcode::NegateI32
                               : Opcode::NegateI64,
       to, value);
}

void ExpressionCompiler::arithmetic(NodeId, TokenKind operation, TypeId type, Register to, Register left,
                                    Register right) {
  const TypeKind kind = scope_.operand_kind(type);
  const std::size_t column = kind == TypeKind::I32 ? 0 : kind == TypeKind::I64 ? 1 : 2;
  constexpr Opcode opcodes[5][3] = {
      {Opcode::AddI32, Opcode::AddI64, Opcode::AddF64},
      {Opcode::SubtractI32, Opcode::SubtractI64, Opcode::SubtractF64},
      {Opcode::MultiplyI32, Opcode::MultiplyI64, Opcode::MultiplyF64},
      {Opcode::DivideI32, Opcode::DivideI64, Opcode::DivideF64},
      {Opcode::RemainderI32, Opcode::RemainderI64, Opcode::RemainderF64},
  };
  const std::size_t row = operation == TokenKind::Plus    ? 0
                          : operation == TokenKind::Minus ? 1
                          : operation == TokenKind::Star  ? 2
                          : operation == TokenKind::Slash ? 3
                                                          : 4;
  emit(opcodes[row][column], to, left, right);
}

void ExpressionCompiler::compare(TokenKind operation, TypeId type, Register to, Register left, Register right) {
  if (operation == TokenKind::EqualEqual || operation == TokenKind::BangEqual) {
    emit(operation == TokenKind::EqualEqual ? Opcode::Equal : Opcode::NotEqual, to, left, right);
    return;
  }
  const TypeKind kind = scope_.operand_kind(type);
  const bool or_equal = operation == TokenKind::LessEqual || operation == TokenKind::GreaterEqual;
  if (operation == TokenKind::Greater || operation == TokenKind::GreaterEqual) std::swap(left, right);
  const Opcode less = kind == TypeKind::F64      ? Opcode::LessF64
                      : kind == TypeKind::String ? Opcode::LessString
                                                 : Opcode::LessInteger;
  const Opcode less_equal = kind == TypeKind::F64      ? Opcode::LessEqualF64
                            : kind == TypeKind::String ? Opcode::LessEqualString
                                                       : Opcode::LessEqualInteger;
  emit(or_equal ? less_equal : less, to, left, right);
}

/// An integer operation with a small literal as its right operand does not need a register for it. Returns the register
/// of its left operand; nothing, and no code is written, if it is not such an operation.
std::optional<Register> ExpressionCompiler::short_operation(NodeId node, TokenKind operation, TypeId type,
                                                            Register to) {
  const TypeKind kind = scope_.operand_kind(type);
  if (kind != TypeKind::I32 && kind != TypeKind::I64) return std::nullopt;
  const NodeId left = tree().first(node);
  const std::optional<std::int64_t> literal = scope_.literal_integer(tree().next(left));
  if (!literal || *literal < INT16_MIN + 1 || *literal > INT16_MAX) return std::nullopt;
  std::int64_t value = *literal;
  Opcode opcode{};
  switch (operation) {
    case TokenKind::Plus:
      opcode = kind == TypeKind::I32 ? Opcode::AddI32Short : Opcode::AddI64Short;
      break;
    case TokenKind::Minus:
      opcode = kind == TypeKind::I32 ? Opcode::AddI32Short : Opcode::AddI64Short;
      value = -value;
      break;
    case TokenKind::EqualEqual:
      opcode = Opcode::EqualShort;
      break;
    case TokenKind::Less:
      opcode = Opcode::LessShort;
      break;
    case TokenKind::LessEqual:
      opcode = Opcode::LessEqualShort;
      break;
    case TokenKind::Greater:
      opcode = Opcode::GreaterShort;
      break;
    case TokenKind::GreaterEqual:
      opcode = Opcode::GreaterEqualShort;
      break;
    default:
      return std::nullopt;
  }
  const Register operand_register = operand(left);
  at(node, true);
  emit(opcode, to, operand_register, static_cast<std::uint16_t>(static_cast<std::int16_t>(value)));
  return operand_register;
}

void ExpressionCompiler::binary(NodeId node, Register to) {
  const NodeId left = tree().first(node);
  const NodeId right = tree().next(left);
  const TokenKind operation = tree().tokens[tree()[node].main_token].kind;
  switch (operation) {
    case TokenKind::AmpersandAmpersand:
    case TokenKind::PipePipe:
      return logic(node, to);
    case TokenKind::QuestionQuestion:
      return default_value(node, to);
    default:
      break;
  }
  const bool arithmetic_operation = operation == TokenKind::Plus || operation == TokenKind::Minus ||
                                    operation == TokenKind::Star || operation == TokenKind::Slash ||
                                    operation == TokenKind::Percent;
  if (!arithmetic_operation) return static_cast<void>(comparison(node, to));
  const TypeId type = type_of(node);
  if (short_operation(node, operation, type, to)) return;
  const Register first = stable_operand(left, right);
  const Register second = operand(right);
  at(node, true);
  switch (scope_.operand_kind(type)) {
    case TypeKind::String:
      emit(Opcode::Concatenate, to, first, second);
      return;
    case TypeKind::List:
    case TypeKind::Tools: {
      const bool is_list = scope_.operand_kind(type) == TypeKind::List;
      const types::Builtin joined = is_list ? types::Builtin::ListConcatenate : types::Builtin::ToolsJoin;
      const Register window = allocate(2);
      emit(Opcode::Move, window, first);
      emit(Opcode::Move, static_cast<Register>(window + 1), second);
      emit(Opcode::CallBuiltin, to, static_cast<std::uint16_t>(joined), window);
      return;
    }
    default:
      return arithmetic(node, operation, type, to, first, second);
  }
}

Sides ExpressionCompiler::comparison(NodeId node, Register to) {
  const NodeId left = tree().first(node);
  const NodeId right = tree().next(left);
  const TokenKind operation = tree().tokens[tree()[node].main_token].kind;
  const TypeId type = type_of(left);
  if (const auto first = short_operation(node, operation, type, to)) return {*first, std::nullopt};
  const Register first = stable_operand(left, right);
  const Register second = operand(right);
  at(node, true);
  compare(operation, type, to, first, second);
  return {first, second};
}

void ExpressionCompiler::logic(NodeId node, Register to) {
  const NodeId left = tree().first(node);
  const bool is_and = tree().tokens[tree()[node].main_token].kind == TokenKind::AmpersandAmpersand;
  const Register value = allocate();
  into(left, value);
  const std::size_t decided = emit_jump(is_and ? Opcode::JumpUnless : Opcode::JumpIf, value);
  into(tree().next(left), value);
  land(decided);
  emit(Opcode::Move, to, value);
}

std::size_t ExpressionCompiler::open_option(Register option) {
  const Register which = allocate();
  emit(Opcode::GetCase, which, option);
  const std::size_t absent = emit_jump(Opcode::JumpUnless, which);
  emit(Opcode::GetPayload, option, option, 0);
  return absent;
}

void ExpressionCompiler::make_some(Register to) {
  emit(Opcode::MakeVariant, to, program_.type_operand(TypeTable::any_option), 1);
}

void ExpressionCompiler::default_value(NodeId node, Register to) {
  const NodeId left = tree().first(node);
  const Register option = allocate();
  into(left, option);
  const bool stays_option =
      kind_of(node) == TypeKind::Option && kind_of(tree().next(left)) == TypeKind::Option &&
      scope_.operand_kind(program_.type_table().get(program_.type_table().base(type_of(left))).arguments[0]) !=
          TypeKind::Option;
  std::size_t absent = 0;
  if (stays_option) {
    const Register which = allocate();
    emit(Opcode::GetCase, which, option);
    absent = emit_jump(Opcode::JumpUnless, which);
  } else {
    absent = open_option(option);
  }
  emit(Opcode::Take, to, option);
  const std::size_t end = emit_jump(Opcode::Jump);
  land(absent);
  into(tree().next(left), to);
  land(end);
}

void ExpressionCompiler::cast(NodeId node, Register to) {
  const NodeId inner = tree().first(node);
  const Register value = operand(inner);
  const TypeKind from = kind_of(inner);
  const TypeId target = type_of(node);
  const TypeKind kind = scope_.operand_kind(target);
  at(node);
  if (kind == TypeKind::F64) {
    emit(from == TypeKind::F64 ? Opcode::Move : Opcode::IntegerToF64, to, value);
  } else if (from == TypeKind::F64) {
    emit(Opcode::F64ToInteger, to, value, program_.type_operand(program_.type_table().base(target)));
  } else {
    emit(kind == TypeKind::I32 && from != TypeKind::I32 ? Opcode::IntegerToI32 : Opcode::Move, to, value);
  }
}

void ExpressionCompiler::field(NodeId node, Register to) {
  const types::Target& target = facts(node).target;
  const NodeId owner = tree().first(node);
  if (target.detail == 0) {
    const Register value = operand(owner);
    at(node, true);
    emit(Opcode::GetField, to, value, static_cast<std::uint16_t>(target.index));
    return;
  }
  const Register option = allocate();
  into(owner, option);
  const std::size_t absent = open_option(option);
  emit(Opcode::GetField, option, option, static_cast<std::uint16_t>(target.index));
  // A field that is already an Option is not wrapped.
  const TypeTable& table = program_.type_table();
  const TypeId inner = table.get(type_of(owner)).arguments[0];
  const TypeId held = types::list_parts(table, table.base(inner))[target.index];
  if (scope_.operand_kind(held) != TypeKind::Option) make_some(option);
  emit(Opcode::Take, to, option);
  const std::size_t end = emit_jump(Opcode::Jump);
  land(absent);
  emit(Opcode::LoadCase, to, program_.type_operand(TypeTable::any_option), 0);
  land(end);
}

void ExpressionCompiler::index(NodeId node, Register to) {
  const NodeId owner = tree().first(node);
  const NodeId key = tree().next(owner);
  const Register value = stable_operand(owner, key);
  const Register position = operand(key);
  at(node);
  emit(kind_of(owner) == TypeKind::Map ? Opcode::GetEntry : Opcode::GetItem, to, value, position);
}

void ExpressionCompiler::list(NodeId node, Register to) {
  const std::vector<NodeId> items = tree().children(node);
  // A long literal is built piece by piece, so that it does not need a register for each item.
  constexpr std::size_t window_max = 64;
  if (items.size() <= window_max) {
    const Register window = allocate(std::max<std::size_t>(items.size(), 1));
    for (std::size_t item = 0; item < items.size(); ++item) into(items[item], static_cast<Register>(window + item));
    emit(Opcode::MakeList, to, window, static_cast<std::uint16_t>(items.size()));
    for (std::size_t item = 0; item < items.size(); ++item) {
      const TypeKind kind = kind_of(items[item]);
      if (kind == TypeKind::List || kind == TypeKind::Map || kind == TypeKind::Struct)
        emit(Opcode::LoadUnit, static_cast<Register>(window + item));
    }
    return;
  }
  const Register built = allocate();
  const Register value = allocate();
  emit(Opcode::MakeList, built, value, 0);
  for (const NodeId item : items) {
    into(item, value);
    emit(Opcode::Push, built, value);
  }
  emit(Opcode::Take, to, built);
}

void ExpressionCompiler::tuple(NodeId node, Register to) {
  const std::vector<NodeId> items = tree().children(node);
  if (items.empty()) {
    emit(Opcode::LoadUnit, to);
    return;
  }
  if (items.size() == 1) return into(items[0], to);
  const Register window = allocate(items.size());
  for (std::size_t item = 0; item < items.size(); ++item) into(items[item], static_cast<Register>(window + item));
  emit(Opcode::MakeRecord, to, window, program_.type_operand(program_.type_table().base(type_of(node))));
}

void ExpressionCompiler::structure(NodeId node, Register to) {
  const TypeId type = type_of(node);
  const std::size_t count = program_.type_table().struct_type(type).fields.size();
  const Register window = allocate(std::max<std::size_t>(count, 1));
  for (const NodeId initializer : tree().children(node, NodeKind::FieldInitializer)) {
    const types::Target& target = facts(initializer).target;
    const auto place = static_cast<Register>(window + target.index);
    if (const NodeId value = tree().first(initializer); value.exists()) {
      into(value, place);
    } else {
      emit(Opcode::Move, place, local_register(target.detail));
      narrow(initializer, place);
    }
  }
  at(node);
  emit(Opcode::MakeRecord, to, window, program_.type_operand(type));
  for (std::size_t item = 0; item < count; ++item) {
    const TypeKind kind = scope_.operand_kind(program_.type_table().struct_type(type).fields[item].type);
    if (kind == TypeKind::List || kind == TypeKind::Map || kind == TypeKind::Struct)
      emit(Opcode::LoadUnit, static_cast<Register>(window + item));
  }
}

Register ExpressionCompiler::local_register(std::uint32_t local) {
  if (program_.checked().locals[local].is_agent_state) {
    // It belongs to the agent: any function that is called may have changed it.
    const Register copy = allocate();
    emit(Opcode::LoadState, copy);
    return copy;
  }
  return scope_.register_of(local);
}

void ExpressionCompiler::narrow(NodeId node, Register value) {
  const TypeId to = facts(node).narrowed_to;
  if (!to.exists()) return;
  at(node);
  emit(Opcode::Check, value, program_.type_operand(resolve(to)));
}

}  // namespace tenon::compiler
