#pragma once

#include <optional>
#include <string>

#include "compiler/code_builder.h"

namespace tenon::compiler {

/// A field of the struct `Failure`.
inline constexpr std::uint16_t failure_message_field = 1;

/// Lists of texts: why contracts are violated.
struct Reasons {
  Register all = 0;
  std::optional<Register> shown = {};  ///< those that the model may see: not of a `check`
  /// The first contract that is violated, by its position in the head; -1: none yet.
  std::optional<Register> which = {};
};

/// Contracts: `requires` before a function's body, `ensures` and `check` of its value.
class ContractCompiler : CodeBuilder {
 public:
  using CodeBuilder::CodeBuilder;

  /// Fails if the arguments violate `requires`.
  void check_requirements();
  /// Fails if a value that the program itself has computed violates `ensures` or `check`.
  void check_value(Register value);
  /// The message of BreakRequires; the machine puts the caller's name before it.
  [[nodiscard]] std::string broken_requires() const;
  /// reasons = why conditions are violated: those of `value` or, without one, those of the arguments.
  void try_contracts(std::optional<Register> value, const Reasons& reasons);
  /// The same for the computed conditions.
  void compute_contracts(std::optional<Register> value, const Reasons& reasons);
  /// The same for the judged ones, unless something is violated already. An empty text is not judged.
  void judge_contracts(std::optional<Register> value, const Reasons& reasons);
  /// to = the text that is judged. If it cannot be computed, its condition is violated.
  void compute_text(const types::Contract& contract, Register to, const Reasons& reasons);
  /// Fails if there are reasons, with the instruction `failing`. `prefix`: the beginning of the message.
  void fail_if_broken(const Reasons& reasons, const std::string& prefix, Opcode failing = Opcode::BreakContract);
  /// to = the reasons as one text.
  void join_reasons(Register reasons, const std::string& separator, Register to);
  /// Fails with the instruction `failing`. The blame is the first condition that is violated. The failure's place is
  /// that condition; of a `requires` it is the call.
  void break_contract(Register message, const Reasons& reasons, Opcode failing = Opcode::BreakContract);
  /// Reports why an answer is refused; nothing if there are no reasons. `answer`: the key of its request; `name`: of
  /// the function with the contract.
  void report_refusal(Register broken, Register answer, const std::string& name);
  /// The jump that is taken if there are reasons.
  [[nodiscard]] std::size_t jump_if_broken(Register reasons);
  /// Returns a register with the result of comparing an integer with a number.
  Register compare_short(Opcode comparison, Register integer, std::uint16_t number);
  /// The call of an extern between its `requires` and its `ensures`.
  void extern_call();

 private:
  void name_contract(const types::Contract& contract, NodeId condition, Register to);
  void explain_broken(const types::Contract& contract, NodeId condition, Register to);
  void ask_judge(std::optional<Register> value, Register requirements, Register window, std::size_t count,
                 bool may_be_fewer);
  void add_reason(const Reasons& reasons, const types::Contract& contract, Register reason);
  void note_first(const Reasons& reasons, const types::Contract& contract);
};

}  // namespace tenon::compiler
