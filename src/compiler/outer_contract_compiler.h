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
  /// The value that such a call has returned satisfies the contract.
  void note_returned(Register value);
  /// Whether the call is one of `violations`, whose argument can be this instance's value.
  [[nodiscard]] bool asks_for_violations(NodeId call) const;
  /// to = the violations of the argument.
  void violations(NodeId call, Register to);
  /// Checks the value that the function returns against its own contract, unless a call has returned it that satisfies
  /// the contract.
  void check_own(Register value);
  /// Fails if the value violates the outer contract.
  void check_value(Register value);

 private:
  [[nodiscard]] bool has_own() const;
  [[nodiscard]] const types::FunctionDeclaration& outer_function() const;
  [[nodiscard]] Register allocate_accepted();
  void accept(Register accepted, Register value);
  /// Runs `check` unless the value is the one that was accepted.
  template <class Check>
  void unless_accepted(Register accepted, Register value, Check check);
  /// Calls a part of the function with the outer contract; returns the register of its result.
  Register call_part(Part part, Register value);

  std::set<syntax::NodeId> returned_;
  Register first_argument_ = 0;  ///< of those of the caller
  // A value that satisfies the contract; the next register: whether there is one. It is compared with what is returned:
  // a `finally` that fails, and a `catch`, can replace that.
  std::optional<Register> accepted_by_own_;
  std::optional<Register> accepted_by_outer_;
};

}  // namespace tenon::compiler
