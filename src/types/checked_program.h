#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/id.h"
#include "source/source_file.h"
#include "syntax/tree.h"
#include "types/builtins.h"
#include "types/extern_calls.h"
#include "types/plan/plan_verdicts.h"
#include "types/table/type_table.h"

namespace tenon::types {

using ModuleId = Id<struct ModuleTag>;
using FunctionId = Id<struct FunctionTag>;
using ExternId = Id<struct ExternTag>;
using LocalId = Id<struct LocalTag>;
using AgentId = Id<struct AgentTag>;

struct Parameter {
  std::string name;  ///< empty for an unnamed Context
  TypeId type;
  source::Span span;
  std::string documentation = {};
  bool is_trusted = false;     ///< `to: trusted String`
  bool asks_approval = false;  ///< of an extern: `to: trusted String else approve`
};

/// The doc comments of parameters: one text each, or none if no parameter has one.
[[nodiscard]] inline std::vector<std::string> documentation_of(const std::vector<Parameter>& parameters) {
  std::vector<std::string> texts;
  bool has_some = false;
  for (const Parameter& parameter : parameters) {
    texts.push_back(parameter.documentation);
    has_some = has_some || !parameter.documentation.empty();
  }
  return has_some ? texts : std::vector<std::string>();
}

/// The kind of a function's body.
enum class FunctionRole : std::uint8_t {
  Written,       ///< a block of the program
  InitialState,  ///< of an agent: the record of the defaults of `state { … }`
  Instructions,  ///< of an agent: the text that `instructions { … }` injects
  AgentRun,      ///< of an agent: one turn of a new agent, for a caller
  TakeOver,      ///< of an agent: the rest of another agent's turn, after a handoff
  ExternCall,    ///< of an extern with a contract: the call between its `requires` and its `ensures`
};

/// The kind of a clause of a contract.
enum class ContractKind : std::uint8_t {
  Requires,  ///< holds before the call, or the caller is to blame
  Ensures,   ///< holds for the value; shown to a model that supplies it
  Check,     ///< the same, but not shown to the model
};

/// `requires amount > 0`, `ensures "answers each question"`.
struct Contract {
  ContractKind kind = ContractKind::Requires;
  syntax::NodeId expression;
  bool is_judged = false;  ///< a text that a model judges; otherwise a Boolean
  syntax::NodeId words;    ///< a text that is shown in place of an expression; usually absent
  LocalId result;          ///< the value under the name `result`; absent in `requires`, and if there is no value
};

/// How a model arrives at a value that satisfies its contract.
struct Strategy {
  enum class Kind : std::uint8_t {
    Repair,    ///< it sees what was wrong with its last answer
    Converse,  ///< the same, and it sees all its answers
    Reject,    ///< it is asked again from scratch
    Vote,      ///< `count` parallel answers: the most frequent one
    BestOf,    ///< `count` parallel answers: the one with the fewest violations
  };
  Kind kind = Kind::Repair;
  std::uint32_t count = 2;  ///< of attempts after the first; of answers for Vote and BestOf
  friend auto operator<=>(const Strategy&, const Strategy&) = default;
};
/// The maximum number of attempts or answers.
inline constexpr std::uint32_t strategy_count_max = 100;

/// A declared function, method or test.
struct FunctionDeclaration {
  FunctionRole role = FunctionRole::Written;
  AgentId agent;  ///< the agent that it belongs to
  ModuleId module;
  syntax::NodeId node;
  std::string name;  ///< `total`, or `Order::total` for a method
  /// The name as a tool: for an agent's function without the agent, `look_up`.
  [[nodiscard]] std::string name_as_tool() const { return agent.exists() ? name.substr(name.rfind(':') + 1) : name; }
  std::string documentation;
  std::vector<std::string> type_parameters;
  std::vector<TypeId> type_parameter_types;
  std::vector<Parameter> parameters;
  TypeId result = TypeTable::unit;
  std::string result_documentation;        ///< the doc comment of the name that is its type
  bool has_trusted_result = false;         ///< `-> trusted T`
  std::optional<std::size_t> own_context;  ///< index of the first Context parameter
  bool is_test = false;
  /// Found by the checker: control can reach the end without a value, so the model completes it.
  bool is_completed = false;
  std::vector<Contract> contracts;  ///< in the order of the program
  Strategy strategy;
  bool has_faulty_strategy = false;  ///< there is one, but it is not valid
  std::optional<ExternId> performs;  ///< of an ExternCall
};

/// A function that is implemented outside of the program: declared by `extern fn`, or a built-in effect.
struct ExternDeclaration {
  BuiltinEffect builtin_effect = BuiltinEffect::Native;
  ModuleId module;  ///< of a native one
  syntax::NodeId node;
  std::string name;
  std::string documentation;
  std::vector<std::string> type_parameters;  ///< only for built-in effects
  std::vector<TypeId> type_parameter_types;
  std::vector<Parameter> parameters;
  TypeId result = TypeTable::unit;
  bool is_vouched = false;  ///< `-> trusted T`
  ExternCallOptions call_options;
  FunctionId wrapper;  ///< the function that a call of it calls, if it has a contract: with the role ExternCall
};

/// `agent Support { state { … } instructions { … } fn turn(ctx: Context, input: T) -> R { … } … }`
struct AgentDeclaration {
  ModuleId module;
  syntax::NodeId node;
  std::string name;
  std::string documentation;
  TypeId state;  ///< a struct with the agent's name; without fields if there is no state
  /// The hidden entries of the state in a lowered agent, which are its last ones. `scratchpad` is reset for each turn,
  /// the others stay with the conversation, whatever becomes of the declared entries.
  std::vector<std::string> added_entries;
  FunctionId turn, initial_state, run, take_over;
  FunctionId instructions;  ///< absent if there are none
};

/// A variable of a function: parameter, `let`, pattern, loop or binding.
struct Local {
  std::string name;
  TypeId type;
  source::Span span;
  FunctionId function;
  bool is_agent_state = false;  ///< `state`: belongs to the agent, not to the function
};

/// What a name, call or pattern refers to.
enum class TargetKind : std::uint8_t {
  None,
  Local,       ///< `index`: LocalId
  Function,    ///< FunctionId
  Extern,      ///< ExternId
  EnumCase,    ///< case `detail` of the node's type or the call's result type; also Some, None, Ok, Err
  Conversion,  ///< `Analysis(s)`, `Email(s)`: to TypeId `index`
  Builtin,     ///< a built-in method: Builtin `index`
  Method,      ///< a built-in method without a Builtin of its own: BuiltinMethod `index`
  NewContext,  ///< Context::new()
  NewMap,      ///< Map::new()
  MapFrom,     ///< Map::from(pairs)
  NewList,     ///< List::new()
  Fail,        ///< fail(message)
  Endorse,     ///< endorse(value, why)
  Field,       ///< field `index` of a struct or tuple
  ReadJson,    ///< `text.parse_json<T>()`: to TypeId `index`
};

/// Built-in methods that are compiled to instructions or loops.
enum class BuiltinMethod : std::uint8_t {
  Length,
  IsEmpty,
  ToString,
  Push,
  Pop,
  Insert,
  RemoveAt,
  MapInsert,
  MapRemove,
  Inject,
  IsSome,
  IsNone,
  IsOk,
  IsErr,
  UnwrapOr,
  Map,
  Filter,
  Any,
  All,
  Fold,
  Find,
  OptionMap,
  Clone,
  InjectAs,
  Say,
  Entries,
  CallTool,
};

struct Target {
  TargetKind kind = TargetKind::None;
  std::uint32_t index = UINT32_MAX;
  std::uint32_t detail = 0;
};

/// What the checker has determined about one node.
struct NodeFacts {
  TypeId type = TypeTable::error;
  Target target;
  /// The refined or union type that the value must be checked against at run time, before it is used.
  TypeId narrowed_to;
  std::vector<TypeId> type_arguments;  ///< of a generic call
};

struct ImportedName {
  std::string name;
  ModuleId module;  ///< the module that declares it
  bool is_module = false;
};

/// What the checker knows about a `pursue`. A state has a tag: 0 for the initial state, n + 1 for the value of action
/// n.
struct Pursuit {
  TypeId type;                           ///< of the goal
  std::vector<syntax::NodeId> actions;   ///< calls
  std::vector<std::string> names;        ///< by action: its unique name for the model
  std::vector<std::vector<bool>> takes;  ///< by action and tag: whether the action accepts such a state
  std::vector<bool> may_reach;           ///< by action: whether its value can be the goal
  bool may_start_there = false;          ///< whether the initial state can be the goal
};

struct Module {
  std::unique_ptr<source::SourceFile> file;
  std::unique_ptr<syntax::SyntaxTree> tree;            ///< lowered, if agents of the file have blocks (blocks/lower.h)
  std::unique_ptr<syntax::SyntaxTree> written;         ///< in this case the tree as it was written
  std::string lowered;                                 ///< in this case the text of `tree`
  bool is_of_library = false;                          ///< of the standard library
  std::vector<NodeFacts> facts;                        ///< by NodeId
  std::unordered_map<std::string, TypeId> type_names;  ///< of structs, enums and agents
  std::unordered_map<std::string, TypeId> aliases;
  std::unordered_map<std::string, FunctionId> functions;
  std::unordered_map<std::string, ExternId> externs;
  std::unordered_map<std::string, ImportedName> imports;
  std::set<std::string, std::less<>> missing_imports;  ///< names from a module that was not found, which is reported
  std::unordered_map<std::string, source::Span> declared_at;
  std::unordered_map<std::uint32_t, Pursuit> pursuits;     ///< by the node of the `pursue`
  std::unordered_map<std::uint32_t, Strategy> strategies;  ///< by the node of the `strategy(…)` after a call

  [[nodiscard]] const NodeFacts& facts_of(syntax::NodeId node) const { return facts[node.index]; }
};

/// A program with resolved names and types. Its errors are in the diagnostics; the compiler only accepts programs
/// without errors.
struct CheckedProgram {
  TypeTable types;
  std::deque<Module> modules;  ///< the entry file first
  std::vector<FunctionDeclaration> functions;
  std::vector<ExternDeclaration> externs;  ///< declared ones first, then the built-in effects
  std::unordered_map<std::string, ExternId> effect_builtins;
  std::vector<Local> locals;
  /// Methods by type and name: `impl Order { fn total(self) … }`.
  std::unordered_map<std::uint32_t, std::unordered_map<std::string, FunctionId>> methods;
  std::vector<FunctionId> tests;
  std::vector<AgentDeclaration> agents;
  ModuleId contracts_module;  ///< std::contracts, if the program has contracts
  ModuleId pursuit_module;    ///< std::pursuit, if the program uses `pursue`
  FunctionId judge;           ///< the function of std::contracts, if imported
  TypeId verdict;             ///< its result for one condition
  /// The models' verdicts about the program's contracts, and their file; empty if there is none.
  PlanVerdicts verdicts;
  std::string plan_path, plan_text;
  TypeId tool_result;          ///< the built-in struct `ToolResult`; absent in a program without tools
  bool trusts_person = false;  ///< `trust person`, or the project says it
  bool allows_endorse = true;  ///< `endorse` may be used
};

}  // namespace tenon::types
