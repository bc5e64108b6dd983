#pragma once

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "types/declarations/type_resolver.h"

namespace tenon::types {

/// The declarations phase: names, types and signatures of all modules, which have been loaded and parsed. Bodies are
/// not looked at.
class Declarations {
 public:
  Declarations(CheckedProgram& program, diagnostics::Diagnostics& diagnostics, Strictness strictness)
      : program_(program),
        types_(program.types),
        diagnostics_(diagnostics),
        resolver_(program, program.types, diagnostics, strictness) {}

  void run();

 private:
  using NodeId = syntax::NodeId;
  using NodeKind = syntax::NodeKind;

  [[nodiscard]] const syntax::SyntaxTree& tree() const { return *module_->tree; }
  [[nodiscard]] std::string describe(TypeId type) const { return types_.describe_briefly(type); }
  void enter_module(ModuleId module);
  void register_effect_builtins();
  bool declare(const std::string& name, source::Span span);
  void collect_names(ModuleId module);
  void resolve_imports(ModuleId module);
  void collect_types(ModuleId module);
  void check_recursive_types();
  void collect_functions(ModuleId module);
  void collect_function(NodeId node, TypeId self);
  std::vector<Parameter> collect_parameters(NodeId owner, TypeId self, bool is_extern);
  void collect_extern(NodeId node);
  void collect_trust(syntax::NodeId node);
  void check_approval(const ExternDeclaration& callee);
  [[nodiscard]] ExternCallOptions collect_extern_call_options(NodeId options);
  void collect_test(NodeId node);
  [[nodiscard]] std::string documentation_of_field(NodeId field, NodeId type_node);
  [[nodiscard]] std::string documentation_of_parameter(NodeId parameter, NodeId type_node);
  void collect_agent_state(NodeId item, TypeId type);
  FunctionId add_agent_function(const AgentDeclaration& agent, AgentId id, FunctionRole role, NodeId node,
                                std::string_view name, std::vector<Parameter> parameters, TypeId result);
  void collect_agent(NodeId item);
  void check_migration(const AgentDeclaration& agent, const std::string& method, FunctionId id);
  void find_judge();

  CheckedProgram& program_;
  TypeTable& types_;
  diagnostics::Diagnostics& diagnostics_;
  TypeResolver resolver_;
  ModuleId module_id_;
  Module* module_ = nullptr;
  std::string agent_name_;  ///< of the agent whose functions are collected; else empty
  std::unordered_set<std::string> test_names_;
};

}  // namespace tenon::types
