#include "bytecode/tool_sets.h"

#include <algorithm>

namespace tenon::bytecode {

Site with_tools(const Program& program, const Site& site, std::span<const ToolIndices> sets) {
  Site expanded = site;
  expanded.clauses.clear();
  std::size_t set = 0;
  for (const Clause& clause : site.clauses) {
    if (!clause.is_set) {
      expanded.clauses.push_back(clause);
      continue;
    }
    for (const std::uint32_t tool : sets[set]) {
      Clause chosen;
      chosen.call = program.tools[tool].call;
      chosen.binding = clause.binding;
      expanded.clauses.push_back(std::move(chosen));
    }
    ++set;
  }
  return expanded;
}

std::size_t count_sets(const Site& site) {
  return static_cast<std::size_t>(std::ranges::count_if(site.clauses, &Clause::is_set));
}

std::vector<types::TypeId> passed_parameters(const Tool& tool) {
  std::vector<types::TypeId> passed;
  for (std::uint16_t at = 0; at < tool.call.parameters.size(); ++at) {
    const bool is_given = std::ranges::find(tool.given, at) != tool.given.end();
    if (is_given || std::ranges::find(tool.call.holes, at) != tool.call.holes.end())
      passed.push_back(tool.call.parameters[at]);
  }
  return passed;
}

}  // namespace tenon::bytecode
