#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "compiler/code_builder.h"

namespace tenon::compiler {

/// The jumps of the `break` and `continue` of a loop.
struct Loop {
  std::vector<std::size_t> breaks, continues;
};

/// How control leaves a part of a function: out of loops, through the blocks of `finally`, out of those of `shield`,
/// and out of the function.
class ExitCompiler : CodeBuilder {
 public:
  using CodeBuilder::CodeBuilder;

  void finally_expression(NodeId node, std::optional<Register> to);
  void shield_expression(NodeId node, std::optional<Register> to);
  /// `break` or `continue`.
  void leave_loop(NodeKind kind);
  /// Ends the function with the value, or with () when it has none.
  void return_value(std::optional<Register> value);
  /// If a `finally` is around, writes a return through its block; otherwise returns false and writes nothing.
  bool return_by_finally(std::optional<Register> value);
  /// Returns the value of the agent that the turn was handed off to.
  void return_handoff(Register value);
  /// Before a handoff: keeps the state of this agent for the blocks of `finally`.
  void keep_state();
  /// `break` and `continue` belong to a new loop until its end, which returns their jumps.
  void begin_loop() { loops_.emplace_back(); }
  /// Ends the newest loop.
  Loop end_loop();
  /// Replaces the loops that can be left, as in a branch that runs by itself; returns those that were there.
  std::vector<Loop> replace_loops(std::vector<Loop> loops) { return std::exchange(loops_, std::move(loops)); }
  /// From here on a returned value is put into the register, to be checked against the contract.
  void check_returned(Register value) { returned_value_ = value; }
  [[nodiscard]] bool checks_returned() const { return returned_value_.has_value(); }
  /// Returns the checked value, if any `return` leads here.
  void return_checked();

 private:
  /// A `finally` around what is being compiled, or a `shield`. `return`, `break` and `continue` leave through its
  /// block, or its end.
  struct Finally {
    Register how = 0;               ///< an integer: how control continues after the block
    Register value = 0;             ///< that is returned
    std::optional<Register> state;  ///< the agent's before a handoff; the next register: whether there was one
    std::size_t loops = 0;          ///< the number of loops around it
    bool has_return = false, has_handoff = false, has_break = false, has_continue = false;
    std::vector<std::size_t> jumps;  ///< to its block or end
  };

  void finally_block(NodeId node, const Finally& left);
  void leave_finally(const Finally& left);
  [[nodiscard]] bool has_handoff(NodeId node) const;

  std::vector<Loop> loops_;                 ///< outermost first
  std::vector<Finally> finallies_;          ///< outermost first
  std::vector<std::size_t> returns_;        ///< jumps to where the returned value is checked
  std::optional<Register> returned_value_;  ///< what is checked
};

}  // namespace tenon::compiler
