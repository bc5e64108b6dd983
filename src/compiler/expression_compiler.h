#pragma once

#include <optional>

#include "compiler/code_builder.h"

namespace tenon::compiler {

/// The operands of a comparison; a small literal on the right has no register.
struct Sides {
  Register left = 0;
  std::optional<Register> right;
};

/// Expressions: each is compiled into a register, or names the register that already contains its value.
class ExpressionCompiler : CodeBuilder {
 public:
  using CodeBuilder::CodeBuilder;

  /// Computes the value and puts it into the register.
  void into(NodeId node, Register to);
  /// The same if `to` is a variable whose old value the node may read.
  void into_variable(NodeId node, Register to);
  /// A register that holds the value: a variable's own, or a new one.
  Register operand(NodeId node);
  /// An operand that nothing evaluated later can change.
  Register stable_operand(NodeId node, NodeId later);
  /// Evaluates only for its effects.
  void drop(NodeId node);
  /// A comparison of two operands.
  Sides comparison(NodeId node, Register to);
  /// to = the comparison of two registers that hold values of the type.
  void compare(TokenKind operation, types::TypeId type, Register to, Register left, Register right);
  /// to = the operation on two registers that hold numbers of the type.
  void arithmetic(NodeId node, TokenKind operation, types::TypeId type, Register to, Register left, Register right);
  /// `&&` and `||`.
  void logic(NodeId node, Register to);
  /// to = Some of what it holds.
  void make_some(Register to);
  /// Returns the jump that is taken if `option` is None; otherwise `option` then holds its contents.
  std::size_t open_option(Register option);
  /// A variable's register; of an agent's state, a copy.
  Register local_register(std::uint32_t local);
  /// Checks a value that is used where a narrower type is expected.
  void narrow(NodeId node, Register value);

 private:
  void value_into(NodeId node, Register to);
  void name(NodeId node, Register to);
  void unary(NodeId node, Register to);
  void binary(NodeId node, Register to);
  std::optional<Register> short_operation(NodeId node, TokenKind operation, types::TypeId type, Register to);
  void default_value(NodeId node, Register to);
  void cast(NodeId node, Register to);
  void field(NodeId node, Register to);
  void index(NodeId node, Register to);
  void list(NodeId node, Register to);
  void tuple(NodeId node, Register to);
  void structure(NodeId node, Register to);
};

}  // namespace tenon::compiler
