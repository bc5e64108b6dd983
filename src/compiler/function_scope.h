#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/emitter.h"

namespace tenon::compiler {

/// What a function is compiled for, what is known about its nodes, and where its variables are.
class FunctionScope {
 public:
  using NodeId = syntax::NodeId;

  FunctionScope(ProgramCompiler& compiler, types::FunctionId function, std::span<const types::TypeId> with,
                const types::Strategy& by, Part which, Holes missing, OuterContract around);

  ProgramCompiler& program;
  const types::FunctionDeclaration& declaration;
  const types::Module& module;
  const types::FunctionId id;
  const std::vector<types::TypeId> type_arguments;
  const types::Strategy strategy;
  const Part part;
  const Holes holes;                ///< of Guard, Ensured and Early
  const OuterContract outer;        ///< of the caller that returns this instance's value
  const std::uint32_t first_local;  ///< the parameters are the function's first variables, in order

  [[nodiscard]] const syntax::SyntaxTree& tree() const { return *module.tree; }
  [[nodiscard]] const types::NodeFacts& facts(NodeId node) const { return module.facts_of(node); }
  /// The type with the function's type arguments.
  [[nodiscard]] types::TypeId resolve(types::TypeId type) const;
  [[nodiscard]] types::TypeId type_of(NodeId node) const { return resolve(facts(node).type); }
  /// The kind of the values of a type: of a refinement that of its base, of a union that of its literals.
  [[nodiscard]] types::TypeKind operand_kind(types::TypeId type) const;
  [[nodiscard]] types::TypeKind kind_of(NodeId node) const { return operand_kind(type_of(node)); }
  /// This function, as it is being compiled.
  [[nodiscard]] std::uint32_t own_instance() const;
  [[nodiscard]] bool has_contract(bool of_value) const;

  // Variables.
  [[nodiscard]] Register register_of(std::uint32_t local) const;
  void set_local(std::uint32_t local, Register at) { locals_[local] = at; }
  /// From here on the parameters refer to the arguments.
  void bind_arguments();
  /// Whether the name is a part of an agent's state.
  [[nodiscard]] bool is_state(NodeId name) const;
  /// Whether evaluating the node can assign a variable: only statements can, and methods that change their receiver.
  [[nodiscard]] bool changes_variables(NodeId node) const;
  /// Adds the variables that the node assigns, entirely or in part, or calls a method of that changes them.
  void list_changed(NodeId node, std::set<std::uint32_t>& locals) const;
  [[nodiscard]] bool speaks_of(NodeId node, types::LocalId local) const;

  // Nodes.
  /// The operands of a condition that are joined by `&&`, each of which is reported separately.
  void list_conditions(NodeId node, std::vector<NodeId>& conditions) const;
  [[nodiscard]] std::optional<std::int64_t> literal_integer(NodeId node) const;
  [[nodiscard]] bool is_literal_number(NodeId node) const;
  /// A text without templates.
  [[nodiscard]] bool is_plain_text(NodeId node) const;
  /// A text that has more than white space, whatever is filled into it.
  [[nodiscard]] bool is_never_blank(NodeId node) const;
  /// The node's code, on one line.
  [[nodiscard]] std::string line_of(NodeId node) const;
  /// The same; of a text without its quotes.
  [[nodiscard]] std::string code_of(NodeId node) const;
  /// The function that holds the contract of what the node calls; absent for an extern without one.
  [[nodiscard]] types::FunctionId contract_holder(NodeId call) const;

 private:
  std::unordered_map<std::uint32_t, Register> locals_;
};

/// Whether values of this kind refer to nothing: one that stays in a register keeps no object alive.
[[nodiscard]] bool is_plain(types::TypeKind kind);

}  // namespace tenon::compiler
