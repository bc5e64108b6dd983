#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/id.h"
#include "source/source_file.h"
#include "syntax/tree.h"
#include "types/builtins.h"
#include "types/plan_verdicts.h"
#include "types/type_table.h"

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
};

/// What a function's body is.
enum class FunctionRole : std::uint8_t {
  Written,       ///< a block of the program
  InitialState,  ///< of an agent: the record of the defaults in its `state { … }`
  Instructions,  ///< of an agent: the text of what its `instructions { … }` injects
  AgentRun,      ///< of an agent: one turn of a new one, for whoever calls it
  TakeOver,      ///< of an agent: the rest of another one's turn
  ExternCall,    ///< of an extern with a contract: the call between its `requires` and its `ensures`
};

/// What one clause of a contract asks for.
enum class ContractKind : std::uint8_t {
  Requires,  ///< holds before the call, or the caller is to blame
  Ensures,   ///< holds of the value; a model that gives it is told
  Check,     ///< the same, and the model is not told
};

/// `requires amount > 0`, `ensures "answers each question"`.
struct Contract {
  ContractKind kind = ContractKind::Requires;
  syntax::NodeId expression;
  bool is_judged = false;  ///< a text, which a model judges; else a Boolean
  syntax::NodeId words;    ///< a text that is shown in place of an expression; absent for most
  LocalId result;          ///< the value under the name `result`; absent in `requires`, and where there is no value
};

/// How a model comes to a value that its contract holds of.
struct Strategy {
  enum class Kind : std::uint8_t {
    Repair,    ///< it is told what was wrong with its last answer
    Converse,  ///< the same, all its answers staying before its eyes
    Reject,    ///< it is asked again as if for the first time
    Vote,      ///< `count` answers at once: the one most often given
    BestOf,    ///< `count` answers at once: the one of which most holds
  };
  Kind kind = Kind::Repair;
  std::uint32_t count = 2;  ///< of attempts after the first; of answers for Vote and BestOf
  friend auto operator<=>(const Strategy&, const Strategy&) = default;
};
/// More attempts or answers than that are refused.
inline constexpr std::uint32_t strategy_count_max = 100;

/// A function, method or test as it is declared.
struct FunctionDeclaration {
  FunctionRole role = FunctionRole::Written;
  AgentId agent;  ///< whose function it is
  ModuleId module;
  syntax::NodeId node;
  std::string name;  ///< `total`, or `Order::total` for a method
  /// As a tool: an agent's function by itself, `look_up`.
  [[nodiscard]] std::string name_as_tool() const { return agent.exists() ? name.substr(name.rfind(':') + 1) : name; }
  std::string documentation;
  std::vector<std::string> type_parameters;
  std::vector<TypeId> type_parameter_types;
  std::vector<Parameter> parameters;
  TypeId result = TypeTable::unit;
  std::optional<std::size_t> own_context;  ///< index of the first Context parameter
  bool is_test = false;
  /// Found by the checker: control can reach the end without a value, so the model completes it.
  bool is_completed = false;
  std::vector<Contract> contracts;  ///< in the order of the program
  Strategy strategy;
  bool has_faulty_strategy = false;  ///< the one that is written is none
  std::optional<ExternId> performs;  ///< of an ExternCall
};

/// Who performs an extern. The numbers are part of the program's format and of the journal's.
enum class BuiltinEffect : std::uint8_t {
  Native = 0,     ///< a function of a library
  Ask = 1,        ///< a person answers
  AskWithin = 2,  ///< the same, in a number of milliseconds
  Now = 3,
  Random = 4,
  Sleep = 5,
  AgentCalled = 6,    ///< an agent begins its turn for another one; given: its name and the input
  AgentReturned = 7,  ///< and has ended it; given: its name and the value's text
  HandedOff = 8,      ///< an agent leaves the rest of its turn to another one; given: that one's name and the input
  /// A contract does not hold of a model's answer; given: the function, the reasons, and the key of the request.
  AnswerRefused = 9,
  BlockEntered = 10,  ///< a block of an agent begins; given: its path
  BlockLeft = 11,     ///< and has ended; given: its path
  Emitted = 12,       ///< an agent says something before its turn ends; given: the text
};
inline constexpr std::uint8_t builtin_effect_count = 13;
/// What the world is only told, such as that an agent's turn begins.
[[nodiscard]] constexpr bool is_notification(BuiltinEffect call) {
  return call >= BuiltinEffect::AgentCalled && call <= BuiltinEffect::Emitted;
}

/// How a native extern is performed: `extern(once, process, within: 5s) fn …`.
struct ExternCallOptions {
  bool is_once = false;     ///< at most once; after a crash in the middle a person says what has become of it
  bool is_process = false;  ///< in a process of its own, which can be ended
  std::optional<std::uint64_t> within_ms;  ///< it fails with TimedOut when it has given nothing by then; at least 1
};

/// A function that the program does not compute itself: declared by `extern fn`, or one of the language's own.
struct ExternDeclaration {
  BuiltinEffect builtin_effect = BuiltinEffect::Native;
  ModuleId module;  ///< of a native one
  syntax::NodeId node;
  std::string name;
  std::string documentation;
  std::vector<std::string> type_parameters;  ///< of the language's own functions alone
  std::vector<TypeId> type_parameter_types;
  std::vector<Parameter> parameters;
  TypeId result = TypeTable::unit;
  ExternCallOptions call_options;
  FunctionId wrapper;  ///< what a call of it calls, when it has a contract: a function of the role ExternCall
};

/// `agent Support { state { … } instructions { … } fn turn(ctx: Context, input: T) -> R { … } … }`
struct AgentDeclaration {
  ModuleId module;
  syntax::NodeId node;
  std::string name;
  std::string documentation;
  TypeId state;  ///< a struct of the agent's name; without fields when it has no state
  /// Entries of the state that nobody wrote, in a lowered agent: the last ones. `scratchpad` begins anew with each
  /// turn, the others stay with the conversation, whatever becomes of the written ones.
  std::vector<std::string> added_entries;
  FunctionId turn, initial_state, run, take_over;
  FunctionId instructions;  ///< absent when it has none
};

/// A variable of a function: parameter, `let`, pattern, loop or binding.
struct Local {
  std::string name;
  TypeId type;
  source::Span span;
  FunctionId function;
  bool is_agent_state = false;  ///< `state`: lives with the agent, not with the function
};

/// What a name, call or pattern stands for.
enum class TargetKind : std::uint8_t {
  None,
  Local,       ///< `index`: LocalId
  Function,    ///< FunctionId
  Extern,      ///< ExternId
  EnumCase,    ///< case `detail` of the node's type or the call's result type; also Some, None, Ok, Err
  Conversion,  ///< `Analysis(s)`, `Email(s)`: to TypeId `index`
  Builtin,     ///< a built-in method: Builtin `index`
  Method,      ///< a built-in method that is no single Builtin: BuiltinMethod `index`
  NewContext,  ///< Context::new()
  NewMap,      ///< Map::new()
  MapFrom,     ///< Map::from(pairs)
  NewList,     ///< List::new()
  Fail,        ///< fail(message)
  Field,       ///< field `index` of a struct or tuple
  ReadJson,    ///< `text.parse_json<T>()`: to TypeId `index`
};

/// Built-in methods that the compiler writes as instructions or loops.
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
};

struct Target {
  TargetKind kind = TargetKind::None;
  std::uint32_t index = UINT32_MAX;
  std::uint32_t detail = 0;
};

/// What the checker found out about one node.
struct NodeFacts {
  TypeId type = TypeTable::error;
  Target target;
  /// The refined or union type that the value has to be checked against at run time, when it goes where it goes.
  TypeId narrowed_to;
  std::vector<TypeId> type_arguments;  ///< of a generic call
};

struct ImportedName {
  std::string name;
  ModuleId module;  ///< where it is declared
  bool is_module = false;
};

/// What the checker knows of a `pursue`. A state has a tag: 0 for the one that it begins with, n + 1 for what action n
/// gives.
struct Pursuit {
  TypeId type;                           ///< of the goal
  std::vector<syntax::NodeId> actions;   ///< calls
  std::vector<std::string> names;        ///< by action: what the model knows it by, each another one
  std::vector<std::vector<bool>> takes;  ///< by action and tag: whether the action takes such a state
  std::vector<bool> may_reach;           ///< by action: whether what it gives can be the goal
  bool may_start_there = false;          ///< whether the state that it begins with can be the goal
};

struct Module {
  std::unique_ptr<source::SourceFile> file;
  std::unique_ptr<syntax::SyntaxTree> tree;     ///< lowered, when agents of the file have blocks (blocks/lower.h)
  std::unique_ptr<syntax::SyntaxTree> written;  ///< then the tree as it was written
  std::string lowered;                          ///< then the text that `tree` is the tree of
  std::vector<NodeFacts> facts;                 ///< by NodeId
  std::unordered_map<std::string, TypeId> type_names;
  std::unordered_map<std::string, FunctionId> functions;
  std::unordered_map<std::string, ExternId> externs;
  std::unordered_map<std::string, ImportedName> imports;
  std::unordered_map<std::string, source::Span> declared_at;
  std::unordered_map<std::uint32_t, Pursuit> pursuits;     ///< by the node of the `pursue`
  std::unordered_map<std::uint32_t, Strategy> strategies;  ///< by the node of the `strategy(…)` behind a call

  [[nodiscard]] const NodeFacts& facts_of(syntax::NodeId node) const { return facts[node.index]; }
};

/// A program whose names and types are known. What is wrong with it stands in the diagnostics; the compiler takes only
/// programs without errors.
struct CheckedProgram {
  TypeTable types;
  std::deque<Module> modules;  ///< the entry first
  std::vector<FunctionDeclaration> functions;
  std::vector<ExternDeclaration> externs;  ///< declared ones first, then those of the language
  std::unordered_map<std::string, ExternId> effect_builtins;
  std::vector<Local> locals;
  /// Methods by type and name: `impl Order { fn total(self) … }`.
  std::unordered_map<std::uint32_t, std::unordered_map<std::string, FunctionId>> methods;
  std::vector<FunctionId> tests;
  std::vector<AgentDeclaration> agents;
  ModuleId contracts_module;  ///< std::contracts, when the program has contracts
  ModuleId pursuit_module;    ///< std::pursuit, when the program pursues something
  FunctionId judge;           ///< its function, likewise
  TypeId verdict;             ///< what it says of one requirement
  /// What models have said about the program's contracts, and the file that it stands in; empty without one.
  PlanVerdicts verdicts;
  std::string plan_path, plan_text;
  TypeId tool_result;  ///< the language's struct `ToolResult`; absent in a program without tools
};

}  // namespace tenon::types
