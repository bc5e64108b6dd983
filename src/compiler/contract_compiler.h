#pragma once

#include <optional>
#include <string>

#include "compiler/code_builder.h"

namespace tenon::compiler {

/// Of the record `Failure`.
inline constexpr std::uint16_t failure_message_field = 1;

/// Lists of texts: why contracts are violated.
struct Reasons {
  Register all = 0;
  std::optional<Register> shown = {};  ///< those that the model may see: not of a `check`
  std::optional<Register> which =
      {};  ///< the first contract that is violated, by its position in the head; -1: none yet
};

/// Contracts: `requires` before a function's body, `ensures` and `check` of its value.
class ContractCompiler : CodeBuilder {
 public:
  using CodeBuilder::CodeBuilder;

  void check_requirements();
  void check_value(Register value);
  [[nodiscard]] std::string broken_requires() const;
  void try_contracts(std::optional<Register> value, const Reasons& reasons);
  void compute_contracts(std::optional<Register> value, const Reasons& reasons);
  void judge_contracts(std::optional<Register> value, const Reasons& reasons);
  void compute_text(const types::Contract& contract, Register to, const Reasons& reasons);
  void fail_if_broken(const Reasons& reasons, const std::string& whose, Opcode failing = Opcode::BreakContract);
  void join_reasons(Register reasons, const std::string& separator, Register to);
  void break_contract(Register message, const Reasons& reasons, Opcode failing = Opcode::BreakContract);
  void report_refusal(Register broken, Register answer, const std::string& name);
  [[nodiscard]] std::size_t jump_if_broken(Register reasons);
  Register compare_short(Opcode comparison, Register integer, std::uint16_t number);
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
