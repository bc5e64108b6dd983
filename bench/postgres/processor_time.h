#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>

/// Processor time of other processes, from /proc.
namespace tenon::bench {

struct ProcessTimes {
  pid_t parent = 0;
  double seconds = 0;           ///< of the process
  double seconds_of_ended = 0;  ///< of its children that it has waited for
};

/// Nothing when there is no such process (any more).
[[nodiscard]] inline std::optional<ProcessTimes> find_process_times(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  // The name, in parentheses, may have spaces in it.
  std::istringstream rest(line.substr(line.rfind(')') + 1));
  std::string skipped;
  ProcessTimes found;
  double user = 0, system = 0, ended_user = 0, ended_system = 0;
  rest >> skipped >> found.parent;
  for (int at = 0; at < 9; ++at) rest >> skipped;
  rest >> user >> system >> ended_user >> ended_system;
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  found.seconds = (user + system) / ticks;
  found.seconds_of_ended = (ended_user + ended_system) / ticks;
  return found;
}

/// Of the PostgreSQL server that one of its sessions belongs to: all its processes, those that have ended included.
class ServerProcessorTime {
 public:
  /// `backend`: what `pg_backend_pid()` returns.
  explicit ServerProcessorTime(pid_t backend) {
    if (const auto found = find_process_times(backend)) server_ = found->parent;
  }

  [[nodiscard]] double seconds() const {
    double sum = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const std::string name = entry.path().filename();
      pid_t process = 0;
      const bool is_process = std::from_chars(name.data(), name.data() + name.size(), process).ec == std::errc();
      const auto found = is_process ? find_process_times(process) : std::nullopt;
      if (!found) continue;
      if (process == server_) sum += found->seconds + found->seconds_of_ended;
      if (found->parent == server_) sum += found->seconds;
    }
    return sum;
  }

 private:
  pid_t server_ = 0;
};

}  // namespace tenon::bench
