#include "runtime/agent_pools.h"

#include <fmt/format.h>

#include <utility>

#include "effects/effect.h"
#include "runtime/recording/agent_records.h"
#include "vm/machine.h"

namespace tenon::runtime {

AgentPools::AgentPools(std::string home, std::string here, std::map<std::string, std::string, std::less<>> agents)
    : home_(std::move(home)), here_(std::move(here)), agents_(std::move(agents)) {}

std::string AgentPools::name_of(std::string_view home, std::string_view agent) {
  return fmt::format("{}{}agent/{}", home, home.empty() ? "" : "/", agent);
}

const std::string& AgentPools::pool_of(std::string_view title) const {
  const auto found = agents_.find(title);
  return found == agents_.end() ? home_ : found->second;
}

const std::string& AgentPools::pool_of(const vm::Machine& machine, const vm::Request& request,
                                       const std::string& title) const {
  const std::string_view agent = effects::scope_of(request, machine.program().program()).agent;
  const auto own = agents_.find(agent.empty() ? std::string_view(title) : agent);
  if (own != agents_.end()) return own->second;
  for (const std::string& caller : callers_of(machine, request, title)) {
    const auto found = agents_.find(caller);
    if (found != agents_.end()) return found->second;
  }
  return home_;
}

}  // namespace tenon::runtime
