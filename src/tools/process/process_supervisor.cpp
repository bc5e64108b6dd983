#include "tools/process/process_supervisor.h"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "base/ensure.h"
#include "base/signal_free_thread.h"
#include "tools/process/process_limits.h"

namespace tenon::tools {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// How often a process is looked at where the kernel does not tell of its end.
constexpr milliseconds glance{20};
constexpr std::size_t length_bytes = 8;

/// The length that a reply begins with; nothing while it is not there.
std::optional<std::uint64_t> reply_length(const std::string& received) {
  if (received.size() < length_bytes) return std::nullopt;
  std::uint64_t length = 0;
  for (std::size_t at = length_bytes; at > 0; --at) {
    length = (length << 8U) | static_cast<unsigned char>(received[at - 1]);
  }
  return length;
}

bool is_whole(const std::string& received) {
  const auto length = reply_length(received);
  return length && received.size() - length_bytes == *length;
}

}  // namespace

ProcessSupervisor::ProcessSupervisor(WorkerCommand command, milliseconds stop_wait)
    : command_(std::move(command)), stop_wait_(stop_wait) {
  ENSURE(waker_.is_open());
  thread_ = start_signal_free_thread([this] { work(); });
}

ProcessSupervisor::~ProcessSupervisor() {
  {
    const std::scoped_lock lock(mutex_);
    is_stopping_ = true;
  }
  waker_.wake();
  thread_.join();
}

std::uint64_t ProcessSupervisor::start(std::string request, std::string key, OnProcessEnd on_end) {
  std::uint64_t number = 0;
  {
    const std::scoped_lock lock(mutex_);
    number = next_number_++;
    Job& job = ordered_.emplace_back();
    job.number = number;
    job.request = std::move(request);
    job.key = std::move(key);
    job.on_end = std::move(on_end);
    ++count_;
  }
  waker_.wake();
  return number;
}

void ProcessSupervisor::give_up(std::uint64_t number) {
  {
    const std::scoped_lock lock(mutex_);
    given_up_.push_back(number);
  }
  waker_.wake();
}

void ProcessSupervisor::work() {
  for (;;) {
    take_orders();
    if (!has_stopped_) start_waiting();
    if (has_stopped_ && running_.empty()) return;
    wait_for_something();
    for (auto job = running_.begin(); job != running_.end();) {
      send(*job);
      receive(*job);
      if (reap(*job)) {
        job = running_.erase(job);
        --count_;
      } else {
        ++job;
      }
    }
    kill_overdue();
  }
}

void ProcessSupervisor::take_orders() {
  std::vector<std::uint64_t> given_up;
  bool stops = false;
  {
    const std::scoped_lock lock(mutex_);
    std::move(ordered_.begin(), ordered_.end(), std::back_inserter(waiting_));
    ordered_.clear();
    given_up.swap(given_up_);
    stops = is_stopping_ && !has_stopped_;
  }
  for (const std::uint64_t number : given_up) {
    const auto is_it = [&](const Job& job) { return job.number == number; };
    count_ -= std::erase_if(waiting_, is_it);
    const auto found = std::find_if(running_.begin(), running_.end(), is_it);
    if (found == running_.end()) continue;
    found->on_end = nullptr;
    ask_to_end(*found, process_grace);
  }
  if (!stops) return;
  has_stopped_ = true;
  count_ -= waiting_.size();
  waiting_.clear();
  for (Job& job : running_) {
    job.on_end = nullptr;
    ask_to_end(job, stop_wait_);
  }
}

void ProcessSupervisor::start_waiting() {
  while (!waiting_.empty() && running_.size() < processes_max) {
    Job job = std::move(waiting_.front());
    waiting_.pop_front();
    auto process = start_process(command_, job.key);
    if (!process) {
      tell(job, {ProcessEnd::How::NotStarted, 0, {}, std::move(process.error())});
      --count_;
      continue;
    }
    job.process = std::move(*process);
    running_.push_back(std::move(job));
  }
}

void ProcessSupervisor::wait_for_something() {
  std::vector<pollfd> places{{waker_.descriptor(), POLLIN, 0}};
  std::optional<milliseconds> longest;
  const auto at_most = [&](milliseconds wait) { longest = longest ? std::min(*longest, wait) : wait; };
  for (const Job& job : running_) {
    if (job.process.socket.is_open()) {
      const bool has_more = !job.has_sent_all;
      places.push_back({job.process.socket.number(), static_cast<short>(has_more ? POLLIN | POLLOUT : POLLIN), 0});
    }
    if (job.process.ended.is_open()) {
      places.push_back({job.process.ended.number(), POLLIN, 0});
    } else {
      at_most(glance);
    }
    if (job.kill_at) {
      const auto left = std::chrono::ceil<milliseconds>(*job.kill_at - steady_clock::now());
      at_most(std::max(left, milliseconds(0)));
    }
  }
  ::poll(places.data(), places.size(), longest ? static_cast<int>(longest->count()) : -1);
  waker_.clear();
}

void ProcessSupervisor::send(Job& job) {
  if (!job.process.socket.is_open() || job.has_sent_all) return;
  while (job.sent < job.request.size()) {
    const ssize_t sent = ::send(job.process.socket.number(), job.request.data() + job.sent,
                                job.request.size() - job.sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    if (sent < 0) break;  // it does not listen any more, and its end says why
    job.sent += static_cast<std::size_t>(sent);
  }
  ::shutdown(job.process.socket.number(), SHUT_WR);
  job.request.clear();
  job.has_sent_all = true;
}

void ProcessSupervisor::receive(Job& job) {
  std::array<char, 65'536> buffer;
  while (job.process.socket.is_open()) {
    const ssize_t count = ::recv(job.process.socket.number(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    if (count <= 0) {
      job.process.socket.reset();
      break;
    }
    if (!job.on_end) continue;  // the result is not needed
    job.received.append(buffer.data(), static_cast<std::size_t>(count));
    const auto length = reply_length(job.received);
    if (length && (*length > process_reply_bytes_max || job.received.size() - length_bytes > *length)) {
      job.received.clear();
      tell(job, {ProcessEnd::How::TooLong, 0, {}, {}});
      ask_to_end(job, process_grace);
    }
  }
  if (!job.on_end || !is_whole(job.received)) return;
  tell(job, {ProcessEnd::How::Replied, 0, job.received.substr(length_bytes), {}});
  job.received.clear();
  job.kill_at = steady_clock::now() + process_grace;  // it has time to close what its libraries have opened
}

void ProcessSupervisor::ask_to_end(Job& job, milliseconds grace) {
  if (std::exchange(job.is_asked_to_end, true)) return;
  signal_group(job.process, SIGTERM);
  job.kill_at = steady_clock::now() + grace;
}

void ProcessSupervisor::kill_overdue() {
  for (Job& job : running_) {
    if (!job.kill_at || *job.kill_at > steady_clock::now()) continue;
    signal_group(job.process, SIGKILL);
    job.kill_at.reset();
  }
}

bool ProcessSupervisor::reap(Job& job) {
  siginfo_t information{};
  if (::waitid(P_PID, static_cast<id_t>(job.process.id), &information, WEXITED | WNOHANG | WNOWAIT) == 0 &&
      information.si_pid == 0) {
    return false;  // it runs
  }
  // Processes that it started end with it if it was asked to end. Until it is waited for, its number is not reused.
  if (job.is_asked_to_end) signal_group(job.process, SIGKILL);
  receive(job);  // what it has written before its end
  int status = 0;
  const pid_t waited = ::waitpid(job.process.id, &status, 0);
  if (waited == job.process.id && WIFSIGNALED(status)) {
    tell(job, {ProcessEnd::How::Signalled, WTERMSIG(status), {}, {}});
  } else {
    tell(job, {ProcessEnd::How::Exited, waited == job.process.id ? WEXITSTATUS(status) : 0, {}, {}});
  }
  return true;
}

void ProcessSupervisor::tell(Job& job, ProcessEnd end) {
  if (const OnProcessEnd on_end = std::exchange(job.on_end, nullptr)) on_end(std::move(end));
}

}  // namespace tenon::tools
