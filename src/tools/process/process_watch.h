#pragma once

#include <poll.h>

#include <chrono>
#include <optional>
#include <vector>

#include "base/waker.h"
#include "tools/process/child_process.h"

namespace tenon::tools {

/// Waits until one of several processes has sent something, can be sent something, has ended, or is to be killed.
class ProcessWatch final {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  /// `waker` ends the wait, too, and is cleared then.
  explicit ProcessWatch(const Waker& waker);
  void add(const ChildProcess& process, bool has_more_to_send, std::optional<TimePoint> kill_at);
  void wait();

 private:
  const Waker& waker_;
  std::vector<pollfd> places_;
  std::optional<std::chrono::milliseconds> longest_;
};

/// Whether the process has ended. It is not waited for, so its number is not used again.
[[nodiscard]] bool has_ended(const ChildProcess& process);
/// Waits for the process, and says how it has ended: `Exited` or `Signalled`.
[[nodiscard]] ProcessEnd wait_for_end(const ChildProcess& process);
/// Kills the process and its group if the time has come, once.
void kill_if_due(const ChildProcess& process, std::optional<ProcessWatch::TimePoint>& kill_at);

}  // namespace tenon::tools
