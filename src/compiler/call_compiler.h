#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/code_builder.h"
#include "types/table/type_parts.h"

namespace tenon::compiler {

/// A call without what follows it.
struct BudgetedCall {
  syntax::NodeId node;
  std::optional<std::uint32_t> budget;  ///< index into Program::budgets
};

/// Calls of functions, externs, methods and built-ins.
class CallCompiler : CodeBuilder {
 public:
  using CodeBuilder::CodeBuilder;

  /// `to` = the call's value: of a function, an extern, a conversion, a case, or a constructor of the language.
  void call(NodeId node, Register to, std::optional<std::uint32_t> budget);
  /// The same with a receiver before the dot.
  void method_call(NodeId node, Register to, std::optional<std::uint32_t> budget);
  /// Adds the budget of a `budget(…)` to the program; returns its index.
  std::uint32_t budget_of(NodeId clause);
  /// Separates a call from the limits after it: its strategy applies to the call from now on.
  BudgetedCall take_limits(NodeId node);
  /// Calls `write`, whose code runs within the budget.
  void within_budget(std::optional<std::uint32_t> budget, const std::function<void()>& write);
  /// The call itself; the arguments are in the window.
  void emit_call(NodeId node, Register window);
  /// Returns the window of its arguments, the receiver first.
  Register builtin_call(NodeId node, types::Builtin builtin, std::optional<Register> receiver,
                        std::span<const NodeId> arguments, Register to);
  /// `map`, `filter` and similar methods: loops around the closure's body.
  void closure_loop(NodeId node, types::BuiltinMethod method, Register receiver, std::span<const NodeId> arguments,
                    Register to);
  /// A call as a model sees it.
  CallShape call_shape(NodeId node, std::span<const NodeId> arguments);
  /// What a model sees of a call besides its signature: the callee's comment, and what that requires of the arguments
  /// that the model supplies.
  [[nodiscard]] std::string documentation_of(const types::Target& target, const CallShape& shape) const;
  /// Reports a type argument that no answerer can supply a value of.
  void expect_answerable(NodeId node, const std::string& name, types::TypeId type,
                         types::Answerer answerer = types::Answerer::Model);
  /// The strategy after the call, or the callee's own.
  [[nodiscard]] const types::Strategy& strategy_of(NodeId call, types::FunctionId callee) const;

 private:
  /// The arguments go to the window from `offset` on; what is before them is there already.
  void declared_call(NodeId node, std::span<const NodeId> arguments, Register window, std::size_t offset, Register to,
                     std::optional<std::uint32_t> budget);
  void read_json(NodeId node, Register text, Register to);
  void map_from(NodeId argument, Register to);

  std::unordered_map<std::uint32_t, types::Strategy> call_strategies_;  ///< by the call's node
};

}  // namespace tenon::compiler
