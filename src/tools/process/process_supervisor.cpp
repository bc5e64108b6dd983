#include "tools/process/process_supervisor.h"

#include <signal.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>
#include <utility>

#include "base/signal_free_thread.h"
#include "tools/process/process_limits.h"
#include "tools/process/process_watch.h"
#include "tools/process/worker_message.h"

namespace tenon::tools {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

bool is_whole(const std::string& received) {
  const auto length = framed_length(received);
  return length && received.size() - length_bytes == *length;
}

}  // namespace

ProcessSupervisor::ProcessSupervisor(WorkerCommand command, milliseconds stop_wait)
    : command_(std::move(command)), stop_wait_(stop_wait) {
  thread_ = start_signal_free_thread([this] { work(); });
}

ProcessSupervisor::~ProcessSupervisor() {
  orders_.stop();
  thread_.join();
}

std::uint64_t ProcessSupervisor::start(std::string request, std::string key, OnProcessEnd on_end) {
  Job job;
  job.request = std::move(request);
  job.key = std::move(key);
  job.on_end = std::move(on_end);
  ++count_;
  return orders_.add(std::move(job));
}

void ProcessSupervisor::give_up(std::uint64_t number) {
  orders_.give_up(number);
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
    for (Job& job : running_) kill_if_due(job.process, job.kill_at);
  }
}

void ProcessSupervisor::take_orders() {
  auto orders = orders_.take();
  std::ranges::move(orders.jobs, std::back_inserter(waiting_));
  for (const std::uint64_t number : orders.given_up) {
    const auto is_it = [&](const Job& job) { return job.number == number; };
    count_ -= std::erase_if(waiting_, is_it);
    const auto found = std::find_if(running_.begin(), running_.end(), is_it);
    if (found == running_.end()) continue;
    found->on_end = nullptr;
    ask_to_end(*found, process_grace);
  }
  if (!orders.stops || has_stopped_) return;
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
      report(job, {ProcessEnd::How::NotStarted, 0, {}, std::move(process.error())});
      --count_;
      continue;
    }
    job.process = std::move(*process);
    running_.push_back(std::move(job));
  }
}

void ProcessSupervisor::wait_for_something() {
  ProcessWatch watch(orders_.waker());
  for (const Job& job : running_) watch.add(job.process, !job.has_sent_all, job.kill_at);
  watch.wait();
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
    const auto length = framed_length(job.received);
    if (length && (*length > process_reply_bytes_max || job.received.size() - length_bytes > *length)) {
      job.received.clear();
      report(job, {ProcessEnd::How::TooLong, 0, {}, {}});
      ask_to_end(job, process_grace);
    }
  }
  if (!job.on_end || !is_whole(job.received)) return;
  report(job, {ProcessEnd::How::Replied, 0, job.received.substr(length_bytes), {}});
  job.received.clear();
  job.kill_at = steady_clock::now() + process_grace;  // it has time to close what its libraries have opened
}

void ProcessSupervisor::ask_to_end(Job& job, milliseconds grace) {
  if (std::exchange(job.is_asked_to_end, true)) return;
  signal_group(job.process, SIGTERM);
  job.kill_at = steady_clock::now() + grace;
}

bool ProcessSupervisor::reap(Job& job) {
  if (!has_ended(job.process)) return false;
  // Processes that it started end with it if it was asked to end. Until it is waited for, its number is not reused.
  if (job.is_asked_to_end) signal_group(job.process, SIGKILL);
  receive(job);  // what it has written before its end
  report(job, wait_for_end(job.process));
  return true;
}

void ProcessSupervisor::report(Job& job, ProcessEnd end) {
  if (const OnProcessEnd on_end = std::exchange(job.on_end, nullptr)) on_end(std::move(end));
}

}  // namespace tenon::tools
