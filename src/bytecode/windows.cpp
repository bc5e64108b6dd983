#include "bytecode/windows.h"

#include <algorithm>

#include "bytecode/tool_sets.h"

namespace tenon::bytecode {
namespace {

std::size_t select_window(const Site& site) {
  std::size_t after_index = count_sets(site);
  for (const Clause& clause : site.clauses) {
    after_index = std::max(after_index, clause.is_set ? chosen_tool_values : clause.call.holes.size());
  }
  return 1 + after_index;
}

}  // namespace

std::size_t written_window(const Program& program, Instruction instruction) {
  switch (static_cast<Opcode>(instruction.opcode)) {
    case Opcode::ForList:
    case Opcode::ForRange:
    case Opcode::ForInclusiveRange:
    case Opcode::ParallelFor:
      return 3;
    case Opcode::ForMap:
      return 4;
    case Opcode::Parallel:
      return program.jump_tables[instruction.wide()].targets.size();
    case Opcode::Call:
    case Opcode::CallTool:
    case Opcode::CallToolInParts:
      return 1;
    case Opcode::CallExtern:
      return std::max<std::size_t>(1, program.externs[instruction.wide()].parameters.size());
    case Opcode::Fill:
      return program.sites[instruction.wide()].call.parameters.size();
    case Opcode::Select:
      return select_window(program.sites[instruction.wide()]);
    default:
      return 0;
  }
}

}  // namespace tenon::bytecode
