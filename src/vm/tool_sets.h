#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bytecode/program.h"
#include "bytecode/tool_sets.h"
#include "vm/machine_state.h"
#include "vm/request.h"
#include "vm/value.h"

/// Sets of tools at run time: which there are in a value, which a select's answer can choose, and how one is called.
namespace tenon::vm {

/// How many clauses and tools a select can offer.
inline constexpr std::size_t select_options_max = 256;

/// The tools of the set, or nothing when the value is no set of tools of the program.
[[nodiscard]] std::optional<bytecode::ToolIndices> find_tools(const Value& set, const bytecode::Program& program);

/// Of a select's request: the tools of each of its sets.
[[nodiscard]] std::vector<bytecode::ToolIndices> sets_of(const Request& request, const bytecode::Program& program);

/// One that an answer to a select can choose. Its number is its position: the clauses in their order, each set's tools
/// in the place of the clause that stands for them.
struct SelectOption {
  const bytecode::CallShape* call = nullptr;
  std::uint32_t clause = 0;           ///< of the site
  bool is_else = false;               ///< then there is no call
  std::optional<std::uint32_t> tool;  ///< index into Program::tools; none for the call of a clause
  std::uint32_t set = 0;              ///< of a tool: which of the request's sets has it
  std::uint32_t item = 0;             ///< of a tool: its position in the set
};
[[nodiscard]] std::vector<SelectOption> options_of(const Request& request, const bytecode::Program& program);

/// The missing arguments as JSON, an object by the parameters' names; nothing when they are nested too deep or too
/// long.
[[nodiscard]] std::optional<Value> write_arguments(const bytecode::CallShape& call, const std::vector<Value>& arguments,
                                                   const types::TypeTable& types);

/// The function that calls the tool in `window[0]` on the list in `window[1]`; none when they are no such things.
[[nodiscard]] std::optional<std::uint32_t> tool_function(const Value* window, const bytecode::Program& program);

/// Puts the arguments of that function into the window, in place of the two; registers up to `end` become (). There is
/// room for as many as the function takes.
void pass_tool_arguments(MachineState& state, Value* window, Value* end);

}  // namespace tenon::vm
