#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bytecode/program.h"
#include "bytecode/tool_sets.h"
#include "vm/machine_state.h"
#include "vm/request.h"
#include "vm/values/value.h"

/// Sets of tools at run time: the tools in a value, the possible choices of a select, and how a tool is called.
namespace tenon::vm {

/// The maximum number of clauses and tools of a select.
inline constexpr std::size_t select_options_max = 256;

/// The tools of the set, or nothing if the value is not a set of tools of the program.
[[nodiscard]] std::optional<bytecode::ToolIndices> find_tools(const Value& set, const bytecode::Program& program);

/// For a select's request: the tools of each of its sets.
[[nodiscard]] std::vector<bytecode::ToolIndices> sets_of(const Request& request, const bytecode::Program& program);

/// A possible choice of a select. Its number is its position: the clauses in order, where a clause for a set is
/// replaced by the tools of the set.
struct SelectOption {
  const bytecode::CallShape* call = nullptr;
  std::uint32_t clause = 0;           ///< of the site
  bool is_else = false;               ///< then there is no call
  std::optional<std::uint32_t> tool;  ///< index into Program::tools; none for the call of a clause
  std::uint32_t set = 0;              ///< for a tool: which of the request's sets contains it
  std::uint32_t item = 0;             ///< for a tool: its position in the set
};
[[nodiscard]] std::vector<SelectOption> options_of(const Request& request, const bytecode::Program& program);

/// The missing arguments as JSON, an object with the parameters' names; nothing if they are nested too deeply or too
/// long.
[[nodiscard]] std::optional<Value> write_arguments(const bytecode::CallShape& call, const std::vector<Value>& arguments,
                                                   const types::TypeTable& types);

/// The function that calls the tool in `window[0]` with the list in `window[1]`; none if these are not valid.
/// `function`: Tool::function, or Tool::function_in_parts.
[[nodiscard]] std::optional<std::uint32_t> tool_function(const Value* window, const bytecode::Program& program,
                                                         std::uint32_t bytecode::Tool::*function);

/// Replaces the two with the arguments of that function; registers up to `end` become (). There must be room for all
/// arguments of the function.
void pass_tool_arguments(MachineState& state, Value* window, Value* end);

}  // namespace tenon::vm
