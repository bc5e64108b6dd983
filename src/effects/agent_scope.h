#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace tenon::effects {

/// An AgentScope whose name belongs to something else, such as the program.
struct AgentScopeView {
  std::string_view agent;
  std::uint32_t depth = 0;
};

/// The agent that a part of a run belongs to: a request to the agent whose function makes it, and all records of the
/// request with it.
struct AgentScope {
  std::string agent;  ///< empty outside of agents
  /// The number of agents that wait for this one, each for the one that it has called. 0: the agent that the client
  /// talks to.
  std::uint32_t depth = 0;

  AgentScope() = default;
  AgentScope(std::string name, std::uint32_t agents_above) : agent(std::move(name)), depth(agents_above) {}
  explicit AgentScope(AgentScopeView scope) : agent(scope.agent), depth(scope.depth) {}
  [[nodiscard]] AgentScopeView view() const { return {agent, depth}; }
  friend bool operator==(const AgentScope&, const AgentScope&) = default;
};

}  // namespace tenon::effects
