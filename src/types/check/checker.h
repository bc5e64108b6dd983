#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "diagnostics/diagnostic.h"
#include "types/builtin_methods.h"
#include "types/check.h"
#include "types/check/case_positions.h"
#include "types/checked_program.h"
#include "types/type_parts.h"

namespace tenon::types {

/// What is wanted of an expression.
struct Wanted {
  enum class Kind : std::uint8_t {
    Any,      ///< a value of whatever type
    Nothing,  ///< the value is dropped
    Value,    ///< a value of `type`
    Body,     ///< as Value; but no value at all will do: the model gives it then
  };
  Kind kind = Kind::Any;
  TypeId type;

  static Wanted any() { return {}; }
  static Wanted nothing() { return {Kind::Nothing, TypeTable::unit}; }
  static Wanted value(TypeId type) { return {Kind::Value, type}; }
  static Wanted body(TypeId type) { return {Kind::Body, type}; }
  [[nodiscard]] bool has_type() const { return kind == Kind::Value || kind == Kind::Body; }
};

/// Names and types of a whole program. Internal to this folder; others call `check`.
class Checker {
 public:
  Checker(CheckedProgram& program, diagnostics::Diagnostics& diagnostics, Strictness strictness)
      : program_(program), types_(program.types), diagnostics_(diagnostics), strictness_(strictness) {}

  /// The modules have been loaded and parsed.
  void run();

 private:
  using NodeId = syntax::NodeId;
  using NodeKind = syntax::NodeKind;
  using TokenKind = syntax::TokenKind;

  // declarations
  void collect_names(ModuleId module);
  void resolve_imports(ModuleId module);
  void collect_types(ModuleId module);
  void collect_functions(ModuleId module);
  void register_effect_builtins();
  void collect_function(NodeId node, TypeId self);
  void collect_extern(NodeId node);
  [[nodiscard]] ExternCallOptions collect_extern_call_options(NodeId options);
  // declarations of agents
  void collect_agent_state(NodeId item, TypeId type);
  void collect_agent(NodeId item);
  void check_migration(const AgentDeclaration& agent, const std::string& method, FunctionId id);
  void check_agent_access(NodeId call, const FunctionDeclaration& function);
  void refuse_state_change(NodeId place, std::uint32_t local);
  FunctionId add_agent_function(const AgentDeclaration& agent, AgentId id, FunctionRole role, NodeId node,
                                std::string_view name, std::vector<Parameter> parameters, TypeId result);
  TypeId check_handoff(NodeId node, FunctionId id, std::span<const NodeId> arguments);
  void check_initial_state(const FunctionDeclaration& function);
  void collect_test(NodeId node);
  std::vector<Parameter> collect_parameters(NodeId owner, TypeId self, bool is_extern);
  bool declare(const std::string& name, source::Span span);
  void check_endless_types();

  // type expressions
  TypeId resolve_type(NodeId node);
  TypeId read_type(NodeId node);
  /// The type, or an error where it has more parts than `type_parts_max`.
  TypeId refuse_large_type(TypeId type, NodeId node);
  TypeId resolve_declared_type(NodeId declaration, NodeId type_node);
  TypeId make_secret(TypeId type, NodeId node);
  TypeId resolve_named_type(NodeId node);
  TypeId resolve_alias(ModuleId module, const std::string& name, NodeId item);
  TypeId resolve_refined(NodeId node, const std::string& alias);
  TypeId resolve_union(NodeId node, const std::string& alias);
  void apply_range(NodeId constraint, TypeId base, Refinement& refinement);
  void apply_length(NodeId constraint, TypeId base, Refinement& refinement);
  void apply_pattern(NodeId constraint, TypeId base, Refinement& refinement);
  std::vector<TypeId> resolve_type_arguments(NodeId list);
  TypeId undeclared_type(NodeId node, const std::string& name);
  /// A context is no part of another value and does not cross to native code, and so it is with a set of tools. Tells
  /// when `type` is Context or Tools; `what` completes "a `Context` cannot be …". Since every type is made of parts
  /// that went through here, parts of parts need no look.
  bool refuse_context(TypeId type, NodeId node, std::string what);
  void report_context(source::Span span, std::string what);
  /// A declared type of that name as seen from the module, or nothing.
  std::optional<TypeId> find_type(const std::string& name);
  std::optional<TypeId> find_type_in(ModuleId module, const std::string& name);
  std::vector<std::string_view> type_names_in_scope();

  // assign.cpp: what goes where
  [[nodiscard]] bool is_assignable(TypeId from, TypeId to) const;
  [[nodiscard]] bool is_subset(TypeId from, TypeId to) const;
  /// Reports when a `from` cannot stand where a `to` is wanted; notes a check at run time where one is needed.
  bool coerce(NodeId node, TypeId from, TypeId to);
  [[nodiscard]] TypeId substitute(TypeId type, std::span<const TypeId> parameters, std::span<const TypeId> arguments);
  /// The type that values of both branches have, or nothing.
  std::optional<TypeId> common_type(TypeId left, TypeId right);
  [[nodiscard]] bool is_answerable(TypeId type, Answerer answerer = Answerer::Model) const;
  bool refuse_secret(TypeId type, NodeId node, std::string_view how);
  /// How a text becomes a value of a text type or a union.
  [[nodiscard]] std::string conversion_hint(TypeId type) const {
    const bool has_name = types_.kind(type) != TypeKind::Union || !types_.union_type(type).name.empty();
    return has_name ? "`" + describe(type) + "(…)` makes one of a text"
                    : "give the union a name with `type Name = …`: `Name(…)` makes one of a text";
  }
  [[nodiscard]] bool is_text(TypeId type) const;
  [[nodiscard]] bool is_integer(TypeId type) const;
  [[nodiscard]] bool is_number(TypeId type) const;

  // statements.cpp
  void check_function(FunctionId id);
  TypeId check_block(NodeId block, Wanted wanted);
  TypeId check_statements(NodeId block, Wanted wanted);
  TypeId check_statement(NodeId statement);
  TypeId check_tail(NodeId statement, Wanted wanted);
  void check_let(NodeId statement);
  void check_assignment(NodeId statement);
  void check_inject(NodeId statement);
  TypeId check_while(NodeId statement);
  void check_condition(NodeId condition);
  void require_own_context(NodeId node, std::string_view what);

  // scripts.cpp: what a test's `model { … }` and `extern { … }` say
  void check_test_script(NodeId section, FunctionId test);
  void check_script_entries(NodeId section);
  void check_scripted_call(NodeId entry, NodeId value);
  void report_unknown_script(source::Span span, std::string_view name);
  /// The function, method or extern that a path names, or a target of kind None.
  Target find_callee(std::span<const syntax::TokenIndex> path);

  // expressions.cpp
  TypeId check_expression(NodeId node, Wanted wanted);
  TypeId check_kind(NodeId node, Wanted wanted);
  TypeId check_value(NodeId node, TypeId type);
  TypeId check_integer(NodeId node, Wanted wanted, bool negative);
  TypeId check_string(NodeId node, Wanted wanted);
  void check_template_pieces(NodeId owner);
  void check_template_value(NodeId node);
  void check_template_for(NodeId node);
  void check_template_if(NodeId node);
  TypeId check_name(NodeId node, Wanted wanted);
  TypeId check_unary(NodeId node, Wanted wanted);
  TypeId check_binary(NodeId node, Wanted wanted);
  TypeId check_default(NodeId node, Wanted wanted);
  TypeId check_cast(NodeId node);
  TypeId check_list(NodeId node, Wanted wanted);
  TypeId check_tuple(NodeId node, Wanted wanted);
  TypeId check_struct(NodeId node);
  TypeId check_range(NodeId node);
  TypeId check_items(NodeId items);
  TypeId check_index(NodeId node);
  TypeId check_field(NodeId node);
  TypeId check_try(NodeId node, Wanted wanted);
  TypeId check_return(NodeId node);
  TypeId field_type(NodeId node, TypeId owner, std::string_view name, Target& target);

  // contracts.cpp
  void find_judge();
  void check_contracts(FunctionId id);
  void check_contract_expression(NodeId node);
  TypeId check_strategy(NodeId node, Wanted wanted);
  void refuse_shadowed_result(FunctionId id, const Contract& contract);
  std::optional<Strategy> read_strategy(NodeId clause);
  void check_contract_calls();
  void check_call_strategy(NodeId node, NodeId clause, const Target& target);
  void check_strategy_fits(NodeId node, const FunctionDeclaration& function, const Strategy& strategy);

  // tools.cpp
  TypeId check_tools(NodeId node);
  void check_tool_entry(NodeId entry);
  /// What the model sees it as; empty where that is not known.
  [[nodiscard]] std::string tool_name(NodeId entry) const;
  [[nodiscard]] std::vector<std::string> names_of_tools(NodeId node) const;
  /// Whether a tool of any set, or an action of a `pursue`, was given that name.
  [[nodiscard]] bool is_renamed_to(std::string_view name) const;
  void check_tool_names(NodeId receiver, NodeId argument);
  std::optional<AgentId> find_agent(std::span<const syntax::TokenIndex> path);
  /// Tells when `type` is Tools; `what` completes "`Tools` cannot be …".
  bool refuse_tools(TypeId type, NodeId node, std::string what);
  TypeId tool_result_type();

  // pursue.cpp
  TypeId check_pursue(NodeId node, Wanted wanted);
  TypeId bound_type(bool is_width);
  std::string action_name(NodeId action, std::map<std::string, std::uint32_t>& uses) const;
  TypeId check_action(NodeId node, std::vector<TypeId>& taken);

  // control.cpp
  TypeId check_if(NodeId node, Wanted wanted);
  TypeId check_if_alone(NodeId node, NodeId body, Wanted wanted);
  TypeId check_match(NodeId node, Wanted wanted);
  TypeId check_select(NodeId node, Wanted wanted);
  TypeId check_for(NodeId node, Wanted wanted);
  TypeId item_type(NodeId items, TypeId type);
  TypeId check_parallel(NodeId node);
  TypeId check_catch(NodeId node, Wanted wanted);
  TypeId check_finally(NodeId node, Wanted wanted);
  TypeId check_budget(NodeId node, Wanted wanted);
  void check_budget_clause(NodeId clause);
  TypeId check_body(NodeId node, Wanted wanted);
  /// Joins the type of one more branch; `joined` is absent before the first.
  void join_branch(NodeId branch, TypeId type, Wanted wanted, std::optional<TypeId>& joined);

  // calls.cpp
  TypeId check_call(NodeId node, Wanted wanted);
  TypeId check_method_call(NodeId node, Wanted wanted);
  TypeId check_function_call(NodeId node, FunctionId id, NodeId type_arguments, std::span<const NodeId> arguments);
  void refuse_notice(NodeId node, ExternId id);
  TypeId check_extern_call(NodeId node, ExternId id, NodeId type_arguments, std::span<const NodeId> arguments);
  std::vector<TypeId> check_type_arguments(NodeId node, const std::string& name, std::size_t promised,
                                           NodeId type_arguments);
  void check_arguments(NodeId node, const std::string& name, std::span<const Parameter> parameters,
                       std::span<const TypeId> types, std::span<const NodeId> arguments);
  void check_hole(NodeId hole, const std::string& name, TypeId type);
  TypeId check_conversion(NodeId node, TypeId type, std::span<const NodeId> arguments);
  TypeId check_case(NodeId node, TypeId enum_type, std::string_view name, source::Span name_span,
                    std::span<const NodeId> arguments, bool is_call);
  std::optional<TypeId> check_known_call(NodeId node, std::string_view name, std::span<const NodeId> arguments,
                                         Wanted wanted);
  std::optional<TypeId> check_associated_call(NodeId node, NodeId callee, std::span<const NodeId> arguments,
                                              Wanted wanted);
  TypeId check_builtin_method(NodeId node, TypeId receiver, std::string_view name, NodeId type_arguments,
                              std::span<const NodeId> arguments, Wanted wanted);
  TypeId check_parse_json(NodeId node, NodeId type_arguments, std::span<const NodeId> arguments, Wanted wanted);
  TypeId check_closure(NodeId node, std::span<const TypeId> parameters, Wanted wanted);
  void check_mutable_receiver(NodeId receiver, std::string_view name);
  bool expect_count(NodeId node, const std::string& name, std::size_t wanted, std::size_t given);
  std::optional<FunctionId> find_function(std::string_view name);
  std::optional<ExternId> find_extern(std::string_view name);
  /// One of the language's own, such as `ask`.
  [[nodiscard]] std::optional<ExternId> find_effect_builtin(std::string_view name) const;

  // patterns.cpp
  void check_pattern(NodeId pattern, TypeId type);
  void check_case_pattern(NodeId pattern, TypeId type);
  LocalId bind_name(std::string_view name, TypeId type, source::Span span);
  void check_exhaustive(NodeId match, TypeId type, std::span<const NodeId> arms);
  [[nodiscard]] bool pattern_always_matches(NodeId pattern) const;

  // lint.cpp
  void lint_function(const FunctionDeclaration& function);
  void lint_other_contexts(NodeId body, std::uint32_t own);

  // scopes
  LocalId declare_local(std::string_view name, TypeId type, source::Span span);
  std::optional<LocalId> find_local(std::string_view name) const;
  class Scope;
  class Branch;

  void enter_module(ModuleId module);
  NodeFacts& facts(NodeId node) { return module_->facts[node.index]; }
  [[nodiscard]] const syntax::SyntaxTree& tree() const { return *module_->tree; }
  [[nodiscard]] std::string describe(TypeId type) const { return types_.describe_briefly(type); }
  [[nodiscard]] std::string function_name() const;
  /// How a name is used that nothing was found for: what is suggested fits the use.
  enum class NameUse : std::uint8_t { Value, Called, Type };
  [[nodiscard]] bool is_unreachable(NodeId node) const;
  void report_unknown_name(NodeId node, std::string_view name, source::Span span, NameUse use);
  /// `shown`: the module as the message calls it.
  void report_not_in_module(source::Span span, ModuleId from, const std::string& shown, const std::string& name);
  void record(NodeId node, TypeId type) { facts(node).type = type; }

  CheckedProgram& program_;
  TypeTable& types_;
  diagnostics::Diagnostics& diagnostics_;
  std::vector<source::Span> unreachable_;  ///< stretches that were told of: nothing else is warned of in them
  Strictness strictness_;

  ModuleId module_id_;
  Module* module_ = nullptr;
  FunctionId function_;
  TypeId self_type_;  ///< within `impl`
  std::vector<std::pair<std::string, TypeId>> type_parameters_;
  std::vector<std::pair<std::string_view, LocalId>> scope_;  ///< innermost last
  std::size_t branch_start_ = 0;  ///< locals of `scope_` before it belong to the outside of a branch
  /// How many of these are around what is checked.
  struct Depth {
    std::size_t loops = 0, closures = 0, finally_blocks = 0;
    std::size_t guarded = 0;  ///< `try` and `catch`
    std::size_t aliases = 0;  ///< that are being resolved, each for the one before
  } depth_;
  bool in_branch_ = false;
  bool in_script_ = false;
  NodeId action_;        ///< of a `pursue`: the call, while it is checked
  NodeId walked_range_;  ///< that a `for` walks over
  /// Set within a further alternative of an or-pattern: the names that the first one has bound.
  struct Alternative {
    std::vector<std::pair<std::string_view, LocalId>> names;
    std::vector<bool> bound;
  };
  Alternative* alternative_ = nullptr;
  /// The strategies behind calls: whether they fit is known when all bodies have been checked.
  struct StrategicCall {
    ModuleId module;
    NodeId node;
    FunctionId callee;
    Strategy strategy;
  };
  std::vector<StrategicCall> strategic_calls_;
  struct ContractCall {
    ModuleId module;
    NodeId node;
    FunctionId callee;
  };
  std::vector<ContractCall> contract_calls_;   ///< of functions, within contracts
  std::optional<std::size_t> contract_scope_;  ///< while a contract is checked: names that stand outside of it
  /// What is reported once.
  struct Reported {
    std::set<std::pair<std::uint32_t, std::string>> text_types;  ///< by module
    std::set<std::string, std::less<>> unknown_names;            ///< of the function
    bool missing_context = false;                                ///< of the function
  } reported_;
  struct Alias {
    NodeId item;
    bool under_way = false;
    std::optional<TypeId> type;
  };
  std::unordered_map<std::uint32_t, std::unordered_map<std::string, Alias>> aliases_;  ///< by module
  CasePositions cases_{types_};
};

class Checker::Scope {
 public:
  explicit Scope(Checker& checker) : checker_(checker), size_(checker.scope_.size()) {}
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
  ~Scope() { checker_.scope_.resize(size_); }

 private:
  Checker& checker_;
  std::size_t size_;
};

/// The inside of a parallel branch: outer variables can be read, not assigned; loops and the function cannot be left.
class Checker::Branch {
 public:
  explicit Branch(Checker& checker)
      : checker_(checker), start_(checker.branch_start_), loops_(checker.depth_.loops), in_(checker.in_branch_) {
    checker.branch_start_ = checker.scope_.size();
    checker.depth_.loops = 0;
    checker.in_branch_ = true;
  }
  Branch(const Branch&) = delete;
  Branch& operator=(const Branch&) = delete;
  ~Branch() {
    checker_.branch_start_ = start_;
    checker_.depth_.loops = loops_;
    checker_.in_branch_ = in_;
  }

 private:
  Checker& checker_;
  std::size_t start_, loops_;
  bool in_;
};

}  // namespace tenon::types
