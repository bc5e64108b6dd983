#include "vm/variables.h"

#include <algorithm>

#include "vm/failure.h"
#include "vm/machine_state.h"

namespace tenon::vm {
namespace {

void put_variable(std::vector<Variable>& variables, const std::string& name, const Value& value) {
  const auto known = std::ranges::find(variables, name, &Variable::name);
  if (known != variables.end()) variables.erase(known);
  if (!name.empty() && value.tag() != Tag::Context) variables.push_back({name, value});
}

std::vector<Variable> variables_in(const MachineState& state, const Fiber& fiber, const Frame& frame) {
  const bytecode::Function& function = state.program->program().functions[frame.function];
  const Value* const registers = fiber.registers.data() + frame.base;
  std::vector<Variable> variables;
  for (std::size_t at = 0; at < function.parameter_names.size(); ++at) {
    put_variable(variables, function.parameter_names[at], registers[at]);
  }
  for (const bytecode::VariableName& variable : function.variables) {
    if (variable.begin <= frame.pc && frame.pc < variable.end)
      put_variable(variables, variable.name, registers[variable.at]);
  }
  return variables;
}

}  // namespace

std::vector<std::vector<Variable>> variables_of(const Machine& machine) {
  const MachineState& state = machine.state();
  std::vector<std::vector<Variable>> calls;
  if (state.fibers.empty()) return calls;
  const auto append = [&](const Fiber& fiber, std::size_t end) {
    for (std::size_t index = end; index-- > 0 && calls.size() < call_stack_entries_max;) {
      calls.push_back(variables_in(state, fiber, fiber.frames[index]));
    }
  };
  const Fiber* fiber = state.fibers.rbegin()->second.get();
  append(*fiber, fiber->frames.size());
  while (fiber->parent.number != FiberId::none) {
    fiber = state.fibers.at(fiber->parent).get();
    append(*fiber, fiber->frames.size() - 1);  // its newest frame is its branch's first one
  }
  return calls;
}

}  // namespace tenon::vm
