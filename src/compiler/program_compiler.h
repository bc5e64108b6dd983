#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "bytecode/program.h"
#include "compiler/outer_contracts.h"
#include "diagnostics/diagnostic.h"
#include "types/checked_program.h"

namespace tenon::compiler {

using bytecode::Agent;
using bytecode::Budget;
using bytecode::CallShape;
using bytecode::chosen_tool_values;
using bytecode::Clause;
using bytecode::Constant;
using bytecode::EntryRole;
using bytecode::Extern;
using bytecode::Function;
using bytecode::JumpTable;
using bytecode::no_function;
using bytecode::no_register;
using bytecode::Opcode;
using bytecode::Place;
using bytecode::Program;
using bytecode::registers_per_function_max;
using bytecode::RequestKind;
using bytecode::ScriptedAnswer;
using bytecode::Site;
using bytecode::SiteKind;
using bytecode::TestCase;
using bytecode::Tool;

/// The part of a function that an instance is.
enum class Part : std::uint8_t {
  Whole,
  /// Its `requires` alone. Returns three lists: why it cannot be called, what must be judged, and the keys of that
  /// (types/plan/contract_words.h).
  Guard,
  /// Takes its arguments and its value, and returns the keys of what a judge has confirmed.
  Ensured,
  /// A Boolean: whether an answer that starts like this can still become a value that satisfies its `ensures`.
  StreamGuard,
  /// All but `requires`: its caller has called the guard.
  Unguarded,
  /// Takes its arguments and a value, and returns why that violates its `ensures`, in words for a model; one empty text
  /// if it violates only a `check`.
  Violations,
  /// Takes its arguments and a value, and fails if that violates its `ensures` or `check`.
  Held,
  /// The `requires` that can be computed from the given arguments, before a model supplies the missing ones; returns
  /// ().
  Early,
};

/// The positions of parameters that are missing in a call, ascending.
using Holes = std::vector<std::uint16_t>;

/// What the functions of one program share while it is compiled. Internal to this folder; others call `compile`.
class ProgramCompiler {
 public:
  ProgramCompiler(const types::CheckedProgram& checked, diagnostics::Diagnostics& diagnostics);
  Program run();

  /// The index of a function with its type arguments; it is compiled when its turn comes.
  std::uint32_t instance(types::FunctionId function, const std::vector<types::TypeId>& type_arguments);
  /// The same with the strategy of the call.
  std::uint32_t instance(types::FunctionId function, const std::vector<types::TypeId>& type_arguments,
                         const types::Strategy& strategy, Part part = Part::Whole, const Holes& holes = {},
                         const OuterContract& outer = {});
  /// The index of an extern with its type arguments.
  std::uint32_t extern_instance(types::ExternId callee, const std::vector<types::TypeId>& type_arguments);
  std::uint32_t constant(Constant value);
  std::uint32_t add_site(Site site);
  std::uint32_t add_jump_table(JumpTable table);
  std::uint32_t add_budget(Budget budget);
  /// A function without a declaration.
  std::uint32_t add_function(Function function);
  /// `in_parts`: becomes Tool::function_in_parts, if there is a CallToolInParts. None for a tool that no set has.
  std::uint32_t add_tool(Tool tool, std::optional<Function> in_parts);
  /// There is a CallToolInParts.
  void use_tools_in_parts() { uses_tools_in_parts_ = true; }
  /// A type as an operand of 16 bits.
  std::uint16_t type_operand(types::TypeId type);
  types::TypeId substitute(types::TypeId type, std::span<const types::TypeId> parameters,
                           std::span<const types::TypeId> arguments);
  Place place(const types::Module& module, syntax::NodeId node, bool main_token = false) const;

  /// The index of the function's first variable; its parameters are its first ones, in order.
  [[nodiscard]] std::uint32_t first_local(types::FunctionId function) const { return first_locals_[function.index]; }
  [[nodiscard]] const types::CheckedProgram& checked() const { return checked_; }
  ViolationReaders& violation_readers() { return violation_readers_; }
  types::TypeTable& type_table() { return program_.types; }
  diagnostics::Diagnostics& diagnostics() { return diagnostics_; }
  Program& program() { return program_; }

 private:
  /// What a function is compiled for: the same source gives several.
  struct InstanceKey {
    types::FunctionId function;
    std::vector<types::TypeId> type_arguments;
    types::Strategy strategy;
    Part part = Part::Whole;
    Holes holes = {};  ///< of Early
    OuterContract outer = {};
    friend auto operator<=>(const InstanceKey&, const InstanceKey&) = default;
  };
  struct Instance {
    InstanceKey what;
    std::optional<Function> made;    ///< without a declaration
    std::size_t caller = no_caller;  ///< the instance that calls it first: its position
    static constexpr std::size_t no_caller = SIZE_MAX;
  };
  /// The functions from `function` back to itself, as they call each other: `a` → `b` → `a`.
  types::TypeId record_of_call(const Extern& callee);
  [[nodiscard]] std::string describe_recursion(types::FunctionId function) const;
  void compile_test(types::FunctionId test);
  void add_limits(ScriptedAnswer& answer, const types::Module& module, syntax::NodeId entry);
  void add_script(TestCase& test, const types::Module& module, syntax::NodeId entry, bool is_model);

  const types::CheckedProgram& checked_;
  diagnostics::Diagnostics& diagnostics_;
  Program program_;
  ViolationReaders violation_readers_{checked_};
  std::vector<Instance> instances_;
  std::size_t current_ = Instance::no_caller;  ///< the instance that is compiled
  std::map<InstanceKey, std::uint32_t> instance_index_;
  std::map<std::pair<std::uint32_t, std::vector<types::TypeId>>, std::uint32_t> extern_index_;
  std::unordered_map<std::uint32_t, std::size_t> instance_counts_;  ///< of generic functions
  std::unordered_map<std::string, std::uint32_t> constant_index_;
  std::vector<std::uint32_t> first_locals_;              ///< by function
  std::vector<std::optional<Function>> tools_in_parts_;  ///< by tool
  bool uses_tools_in_parts_ = false;
};

}  // namespace tenon::compiler
