#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/program_compiler.h"

namespace tenon::compiler {

using Register = std::uint16_t;

/// The code of one function while it is written: instructions with their places in the source, jumps, and registers.
/// Registers are parameters, then variables and intermediate values as a stack.
class Emitter {
 public:
  /// `named`: where a function is reported that needs too many registers.
  Emitter(ProgramCompiler& program, source::Span named) : program_(program), named_(named) {}

  [[nodiscard]] Function& function() { return function_; }
  [[nodiscard]] std::size_t here() const { return function_.code.size(); }

  /// Each returns the position of the instruction.
  std::size_t emit(Opcode opcode, std::uint16_t a = 0, std::uint16_t b = 0, std::uint16_t c = 0);
  std::size_t emit_wide(Opcode opcode, std::uint16_t a, std::uint32_t wide);
  /// Sets the wide operand of an instruction.
  void set_wide(std::size_t at, std::uint32_t wide);
  /// Where a jump goes, which is emitted without a target.
  void land_at(std::size_t jump, std::size_t target);
  void land(std::size_t jump) { land_at(jump, here()); }
  void land_all(const std::vector<std::size_t>& jumps);

  void load_string(Register to, std::string text);
  void load_integer(Register to, std::int64_t value);
  /// A failure from `begin` to before `end` continues at `target` with the Failure in the register.
  void add_handler(std::size_t begin, std::size_t end, std::size_t target, Register failure);

  /// Registers in a row; the first one is returned.
  Register allocate(std::size_t count = 1);
  /// Registers in a row for a call whose result goes to `to`: from `to` on if no later register is in use, so that the
  /// result is already there. `to` must not be a variable that the arguments may read, see `into_variable`.
  Register allocate_window(Register to, std::size_t count);
  /// From here to the end of the innermost `Temporaries` the register has the value of a variable of the text.
  void name_variable(Register at, const std::string& name);
  [[nodiscard]] bool is_newest(Register value) const { return value + 1U == next_; }

  /// The place in the source of the instructions that follow.
  void set_place(const Place& place) { place_ = place; }
  [[nodiscard]] const Place& place() const { return place_; }

  /// The number of budgets that are open where the code is written.
  [[nodiscard]] std::uint16_t open_budgets() const { return open_budgets_; }
  void open_budget() { ++open_budgets_; }
  void close_budget() { --open_budgets_; }

  /// Registers that are allocated within one scope of the compiler are free after it.
  class Temporaries {
   public:
    explicit Temporaries(Emitter& emitter)
        : emitter_(emitter), next_(emitter.next_), variables_(emitter.open_variables_.size()) {}
    Temporaries(const Temporaries&) = delete;
    Temporaries& operator=(const Temporaries&) = delete;
    ~Temporaries() {
      emitter_.next_ = next_;
      emitter_.end_variables(variables_);
    }

   private:
    Emitter& emitter_;
    std::uint32_t next_;
    std::size_t variables_;
  };
  /// Of the function, at its end.
  void end_variables() { end_variables(0); }

 private:
  void end_variables(std::size_t from);

  ProgramCompiler& program_;
  source::Span named_;
  Function function_;
  Place place_;
  std::uint32_t next_ = 0;  ///< the next free register
  std::uint16_t open_budgets_ = 0;
  std::vector<std::size_t> open_variables_;  ///< indices into Function::variables
  bool is_too_large_ = false;
};

}  // namespace tenon::compiler
