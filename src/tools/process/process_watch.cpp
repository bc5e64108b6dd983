#include "tools/process/process_watch.h"

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>

#include "tools/process/process_limits.h"

namespace tenon::tools {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

ProcessWatch::ProcessWatch(const Waker& waker) : waker_(waker), places_{{waker.descriptor(), POLLIN, 0}} {}

void ProcessWatch::add(const ChildProcess& process, bool has_more_to_send, std::optional<TimePoint> kill_at) {
  const auto at_most = [&](milliseconds wait) { longest_ = longest_ ? std::min(*longest_, wait) : wait; };
  if (process.socket.is_open()) {
    places_.push_back({process.socket.number(), static_cast<short>(has_more_to_send ? POLLIN | POLLOUT : POLLIN), 0});
  }
  if (process.ended.is_open()) {
    places_.push_back({process.ended.number(), POLLIN, 0});
  } else {
    at_most(process_glance);
  }
  if (kill_at) at_most(std::max(std::chrono::ceil<milliseconds>(*kill_at - steady_clock::now()), milliseconds(0)));
}

void ProcessWatch::wait() {
  ::poll(places_.data(), places_.size(), longest_ ? static_cast<int>(longest_->count()) : -1);
  waker_.clear();
}

bool has_ended(const ChildProcess& process) {
  siginfo_t information{};
  return ::waitid(P_PID, static_cast<id_t>(process.id), &information, WEXITED | WNOHANG | WNOWAIT) != 0 ||
         information.si_pid != 0;
}

ProcessEnd wait_for_end(const ChildProcess& process) {
  int status = 0;
  const pid_t waited = ::waitpid(process.id, &status, 0);
  if (waited == process.id && WIFSIGNALED(status)) return {ProcessEnd::How::Signalled, WTERMSIG(status), {}, {}};
  return {ProcessEnd::How::Exited, waited == process.id ? WEXITSTATUS(status) : 0, {}, {}};
}

void kill_if_due(const ChildProcess& process, std::optional<ProcessWatch::TimePoint>& kill_at) {
  if (!kill_at || *kill_at > steady_clock::now()) return;
  signal_group(process, SIGKILL);
  kill_at.reset();
}

}  // namespace tenon::tools
