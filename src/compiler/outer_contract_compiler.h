#pragma once

#include <optional>
#include <set>
#include <vector>

#include "compiler/code_builder.h"

namespace tenon::compiler {

/// A function that has a contract and returns the value of a call as its own passes the contract on, with its
/// arguments, if the callee asks for the `violations` of a value before it returns one: so a loop of the callee can
/// continue with the reasons. The callee is compiled once more for that contract; the caller's arguments are its last
/// ones. A closure is not a value, so this cannot be an argument that the program gives.
class OuterContractCompiler : CodeBuilder {
 public:
  using CodeBuilder::CodeBuilder;

  /// Adds the caller's arguments to the parameters of an instance with an outer contract.
  void take_arguments();
  /// Before the body is compiled.
  void begin(NodeId body);
  /// The contract that this call passes on.
  [[nodiscard]] std::optional<OuterContract> passed_by(NodeId call) const;
  /// How many registers the arguments of that contract take.
  [[nodiscard]] std::size_t count_passed(NodeId call) const;
  /// Writes them, from `window` on.
  void pass_arguments(Register window);
  /// The value that was just returned has been checked.
  void note_checked();
  /// Whether the call is one of `violations`, whose argument can be this instance's value.
  [[nodiscard]] bool asks_for_violations(NodeId call) const;
  /// to = the violations of the argument.
  void violations(NodeId call, Register to);
  /// Jumps to the check of the value that the function returns, around its own contract if a call has checked that.
  [[nodiscard]] std::optional<std::size_t> jump_if_checked();
  /// Fails if the value violates the outer contract.
  void check_value(Register value);

 private:
  [[nodiscard]] bool has_own() const;
  [[nodiscard]] const types::FunctionDeclaration& outer_function() const;
  /// Calls a part of the function with the outer contract; returns the register of its result.
  Register call_part(Part part, Register value);

  std::set<syntax::NodeId> returned_;
  Register first_argument_ = 0;         ///< of those of the caller
  std::optional<Register> is_checked_;  ///< of what a call has returned
  std::optional<Register> accepted_;    ///< a value without violations; the next register: whether there is one
};

}  // namespace tenon::compiler
