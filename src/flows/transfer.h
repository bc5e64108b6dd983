#pragma once

#include <cstdint>
#include <unordered_map>

#include "bytecode/program.h"
#include "flows/state.h"

namespace tenon::flows {

/// What instructions that only compute do to labels, by the machine's rules (vm/execution): one row of a table for each
/// instruction, and for each built-in method.
class Transfer {
 public:
  Transfer(const bytecode::Program& program, Labels& labels, Values& values);

  /// Executes the instruction at `at` on what is known. False if it is none of these: it calls, jumps, asks or fails.
  [[nodiscard]] bool apply(FrameState& state, bytecode::Instruction instruction, Step at);
  /// Whether the instruction can fail, other than by a spent budget.
  [[nodiscard]] static bool can_fail(bytecode::Opcode opcode);
  /// Everything that it reads: what it costs depends on that.
  [[nodiscard]] Label label_of_operands(const FrameState& state, bytecode::Instruction instruction);
  /// What labels its failure: everything that it reads and that can be a reason for one.
  [[nodiscard]] Label label_of_failure(const FrameState& state, bytecode::Instruction instruction);

  /// What an extern returns to a call with this label, by what the program vouches for (vm/execution/trust.cpp).
  [[nodiscard]] ValueId result_of(const bytecode::Extern& callee, Label call, Label source);
  /// What a model answers at this place, which has seen what is labelled so.
  [[nodiscard]] ValueId answer_of(const bytecode::Site& site, Label seen, Step at) {
    return values_.plain(site.narrow_bits ? labels_.way_up(at.function, at.pc) : seen);
  }
  /// What a model sees in the context.
  [[nodiscard]] Label seen_in(ValueId context) { return values_.whole(context); }

 private:
  using Registers = std::vector<ValueId>;

  void compute(Registers& r, bytecode::Instruction i, std::uint8_t rule);
  void make(Registers& r, bytecode::Instruction i, std::uint8_t rule);
  void change(Registers& r, bytecode::Instruction i, std::uint8_t rule);
  void inject(Registers& r, bytecode::Instruction i, Step at, bool is_certain);
  void use_state(FrameState& state, bytecode::Instruction i, std::uint8_t rule, Step at);
  [[nodiscard]] ValueId vouched(types::TypeId type, Label source, std::size_t depth);
  [[nodiscard]] bool holds_vouched(types::TypeId type);
  [[nodiscard]] ValueId call_builtin(const Registers& r, bytecode::Instruction i);
  [[nodiscard]] std::size_t payload_count(bytecode::Instruction i) const;
  [[nodiscard]] std::size_t field_count(types::TypeId type) const;
  [[nodiscard]] Label whole_of(const Registers& r, std::size_t first, std::size_t count);

  const bytecode::Program& program_;
  Labels& labels_;
  Values& values_;
  std::unordered_map<std::uint32_t, std::uint32_t> tools_;  ///< by the type of their record
  std::unordered_map<std::uint32_t, bool> holds_vouched_;
};

}  // namespace tenon::flows
