#include "bytecode/agents.h"

namespace tenon::bytecode {

std::optional<std::uint32_t> find_agent(const Program& program, std::string_view name) {
  for (std::uint32_t at = 0; at < program.agents.size(); ++at) {
    if (program.agents[at].name == name) return at;
  }
  return std::nullopt;
}

std::vector<std::string_view> agent_names(const Program& program) {
  std::vector<std::string_view> names;
  for (const Agent& agent : program.agents) names.emplace_back(agent.name);
  return names;
}

types::TypeId prompt_type(const Program& program, const Agent& agent) {
  return program.functions[agent.turn].parameters[1];
}

}  // namespace tenon::bytecode
