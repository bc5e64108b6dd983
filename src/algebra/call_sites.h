#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "algebra/artifacts.h"
#include "bytecode/program.h"
#include "vm/request.h"

namespace tenon::algebra {

/// A call that the model fills or chooses: where its instruction is, in the function of its site.
struct ModelCall {
  /// The position of the Call or CallExtern; none: an action, which is chosen and calls nothing.
  std::optional<std::uint32_t> pc = std::nullopt;
  std::uint32_t tool = 0;
  std::uint32_t alternative = 0;  ///< see Choice
  /// For a tool of a set: the function that calls it, which contains `pc`, one call deeper than the site.
  std::optional<std::uint32_t> function = std::nullopt;
  friend bool operator==(const ModelCall&, const ModelCall&) = default;
};

/// What a program's code says of its calls: the tools, and which call follows an answer of the model. Made once for a
/// program of a run; the program outlives it.
class CallSites {
 public:
  /// The columns are those of artifacts of the form. `first`: the run's first cycle.
  CallSites(const bytecode::Program& program, Form form, const Cycle& first);

  /// Columns in this order: the program's externs; the functions that a model completes, fills or chooses; the agents;
  /// answers that contracts may refuse; the actions of `pursue`; `select`, where there is one, for a choice that calls
  /// nothing; ask, now, random, sleep. Each is only included if what the run begins with can come to it. In older
  /// forms all functions, agents, answers, actions and choices are; externs and the last four if a function of the
  /// program calls them; in the first forms, always.
  [[nodiscard]] const std::vector<Tool>& tools() const { return tools_; }
  /// Nothing for what the compiler adds to an agent's call.
  [[nodiscard]] std::optional<std::uint32_t> tool_of_extern(std::uint32_t index) const { return extern_tools_[index]; }
  /// Whether each call of the function is a call of the algebra: a model may complete it, or it is an agent's turn.
  [[nodiscard]] bool is_always_call(std::uint32_t function) const { return is_always_call_[function]; }
  [[nodiscard]] std::uint32_t tool_of_function(std::uint32_t function) const;
  [[nodiscard]] std::uint32_t select_tool() const { return *select_tool_; }
  /// For a Completion whose answers a contract may reject: each answer is a separate call.
  [[nodiscard]] std::optional<std::uint32_t> attempt_tool(std::uint32_t site) const { return attempt_tools_[site]; }
  /// The call of a Fill.
  [[nodiscard]] const ModelCall& filled(std::uint32_t site) const { return *calls_[site].front(); }
  /// The calls that an answer of a Select can choose (vm::options_of); nothing for `else`.
  [[nodiscard]] std::vector<std::optional<ModelCall>> options(const vm::Request& select) const;

 private:
  // The steps of the constructor, in this order.
  /// Calls `visit` with each function that can be reached and the position of each Fill and Select in it.
  template <class Visit>
  void each_call_by_model(const Visit& visit);
  void find_calls(const bytecode::Function& function, std::uint32_t pc);
  void find_tool_calls();
  /// By function, whether a model completes, fills or chooses it.
  [[nodiscard]] std::vector<bool> find_model_functions();
  void add_columns(Form form, const std::vector<bool>& is_of_model);
  /// Gives each call its column.
  void resolve_calls();

  /// The tool that the instruction of a reachable function calls.
  [[nodiscard]] std::uint32_t callee(const bytecode::Instruction& instruction) const;

  const bytecode::Program& program_;
  std::vector<bool> is_reachable_;  ///< by function
  std::vector<Tool> tools_;
  std::vector<std::optional<std::uint32_t>> extern_tools_;
  std::vector<std::optional<std::uint32_t>> function_tools_;
  std::vector<bool> is_always_call_;
  std::optional<std::uint32_t> select_tool_;
  std::vector<std::optional<std::uint32_t>> attempt_tools_;   ///< by site
  std::vector<std::vector<std::optional<ModelCall>>> calls_;  ///< by site; none for the clause of a set
  std::vector<ModelCall> tool_calls_;                         ///< by Program::tools
};

}  // namespace tenon::algebra
