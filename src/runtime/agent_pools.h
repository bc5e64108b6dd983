#pragma once

#include <map>
#include <string>
#include <string_view>

namespace tenon::vm {
class Machine;
struct Request;
}  // namespace tenon::vm

namespace tenon::runtime {

/// In which pools of hosts the agents of a run are active (docs/decisions/0045-placed-agents.md). By default there are
/// no placed agents, and a run never moves.
class AgentPools {
 public:
  AgentPools() = default;
  /// The pool of the hosts of a placed agent. `home` as below.
  [[nodiscard]] static std::string name_of(std::string_view home, std::string_view agent);
  /// `home`: the pool for what no placed agent does. `here`: that of this process. `agents`: the placed ones.
  AgentPools(std::string home, std::string here, std::map<std::string, std::string, std::less<>> agents);

  [[nodiscard]] bool is_empty() const { return agents_.empty(); }
  [[nodiscard]] const std::string& here() const { return here_; }
  /// Where a request is to be made: in the pool of the innermost placed agent that it belongs to.
  [[nodiscard]] const std::string& pool_of(const vm::Machine& machine, const vm::Request& request,
                                           const std::string& title) const;
  /// Where a run begins; `title`: its function or agent.
  [[nodiscard]] const std::string& pool_of(std::string_view title) const;

 private:
  std::string home_, here_;
  std::map<std::string, std::string, std::less<>> agents_;  ///< pools by agent
};

}  // namespace tenon::runtime
