#include "tools/process/worker_pool.h"

#include <fmt/format.h>
#include <poll.h>
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

using std::chrono::milliseconds;
using std::chrono::steady_clock;

WorkerPool::WorkerPool(WorkerCommand command, std::string greeting, milliseconds stop_wait)
    : command_(std::move(command)), greeting_(frame(greeting)), stop_wait_(stop_wait) {
  thread_ = start_signal_free_thread([this] { work(); });
}

WorkerPool::~WorkerPool() {
  orders_.stop();
  thread_.join();
}

std::uint64_t WorkerPool::start(std::string request, OnProcessEnd on_end) {
  return orders_.add({0, frame(request), std::move(on_end)});
}

void WorkerPool::give_up(std::uint64_t number) {
  orders_.give_up(number);
}

void WorkerPool::work() {
  for (;;) {
    take_orders();
    if (!has_stopped_) assign_waiting();
    if (has_stopped_ && workers_.empty()) return;
    wait_for_something();
    for (auto worker = workers_.begin(); worker != workers_.end();) {
      send(*worker);
      receive(*worker);
      if (reap(*worker)) {
        worker = workers_.erase(worker);
        --count_;
      } else {
        ++worker;
      }
    }
    if (!has_stopped_) assign_waiting();
    end_idle();
    for (Worker& worker : workers_) kill_if_due(worker.process, worker.kill_at);
  }
}

void WorkerPool::take_orders() {
  auto orders = orders_.take();
  std::ranges::move(orders.jobs, std::back_inserter(waiting_));
  for (const std::uint64_t number : orders.given_up) {
    std::erase_if(waiting_, [&](const Job& job) { return job.number == number; });
    for (Worker& worker : workers_) {
      if (!worker.job || worker.job->number != number) continue;
      worker.job->on_end = nullptr;
      ask_to_end(worker, process_grace);
    }
  }
  if (!orders.stops || has_stopped_) return;
  has_stopped_ = true;
  waiting_.clear();
  for (Worker& worker : workers_) {
    if (worker.job) worker.job->on_end = nullptr;
    ask_to_end(worker, stop_wait_);
  }
}

WorkerPool::Worker* WorkerPool::find_idle() {
  const auto found = std::ranges::find_if(workers_, [](const Worker& worker) {
    return !worker.job && !worker.is_ending && worker.process.socket.is_open();
  });
  return found == workers_.end() ? nullptr : &*found;
}

/// Null, after the end of the job was reported, if the process cannot be started.
WorkerPool::Worker* WorkerPool::start_worker(Job& job) {
  auto process = start_process(command_, {});
  if (!process) {
    if (const OnProcessEnd on_end = std::exchange(job.on_end, nullptr)) {
      on_end({ProcessEnd::How::NotStarted, 0, {}, std::move(process.error())});
    }
    return nullptr;
  }
  Worker& worker = workers_.emplace_back();
  ++count_;
  worker.process = std::move(*process);
  worker.outgoing = greeting_;
  return &worker;
}

void WorkerPool::assign_waiting() {
  while (!waiting_.empty()) {
    Worker* worker = find_idle();
    if (worker == nullptr && workers_.size() >= processes_max) return;
    Job job = std::move(waiting_.front());
    waiting_.pop_front();
    if (worker == nullptr) worker = start_worker(job);
    if (worker == nullptr) continue;
    worker->outgoing += job.request;
    job.request.clear();
    worker->job = std::move(job);
    send(*worker);
  }
}

void WorkerPool::wait_for_something() {
  ProcessWatch watch(orders_.waker());
  for (const Worker& worker : workers_) {
    watch.add(worker.process, worker.sent < worker.outgoing.size(), worker.kill_at);
  }
  watch.wait();
}

void WorkerPool::send(Worker& worker) const {
  while (worker.process.socket.is_open() && worker.sent < worker.outgoing.size()) {
    const ssize_t sent = ::send(worker.process.socket.number(), worker.outgoing.data() + worker.sent,
                                worker.outgoing.size() - worker.sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return;  // later, or its end says why
    worker.sent += static_cast<std::size_t>(sent);
  }
  worker.outgoing.clear();
  worker.sent = 0;
}

void WorkerPool::receive(Worker& worker) {
  std::array<char, 65'536> buffer;
  while (worker.process.socket.is_open()) {
    const ssize_t count = ::recv(worker.process.socket.number(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    if (count <= 0) {
      worker.process.socket.reset();
      worker.is_ending = true;
      // It has closed the socket and not ended: it cannot be used any more.
      if (!worker.kill_at) worker.kill_at = steady_clock::now() + process_grace;
      return;
    }
    if (worker.is_ending) continue;  // the result is not needed
    worker.received.append(buffer.data(), static_cast<std::size_t>(count));
    for (;;) {
      const auto length = framed_length(worker.received);
      if (!length) break;
      if (*length > process_reply_bytes_max) {
        report(worker, {ProcessEnd::How::TooLong, 0, {}, {}});
        ask_to_end(worker, process_grace);
        break;
      }
      if (worker.received.size() - length_bytes < *length) break;
      take_reply(worker, static_cast<std::size_t>(*length));
    }
  }
}

void WorkerPool::take_reply(Worker& worker, std::size_t length) {
  std::string reply = worker.received.substr(length_bytes, length);
  worker.received.erase(0, length_bytes + length);
  if (!std::exchange(worker.is_greeted, true)) return;
  report(worker, {ProcessEnd::How::Replied, 0, std::move(reply), {}});
  worker.job.reset();
}

void WorkerPool::ask_to_end(Worker& worker, milliseconds grace) const {
  if (std::exchange(worker.is_ending, true) && worker.kill_at) return;
  signal_group(worker.process, SIGTERM);
  worker.kill_at = steady_clock::now() + grace;
}

/// Those that are too many learn it from their socket, which has no further request.
void WorkerPool::end_idle() {
  std::size_t idle = 0;
  for (Worker& worker : workers_) {
    if (worker.job || worker.is_ending) continue;
    if (++idle <= idle_workers_max) continue;
    worker.is_ending = true;
    ::shutdown(worker.process.socket.number(), SHUT_WR);
    worker.kill_at = steady_clock::now() + process_grace;
  }
}

bool WorkerPool::reap(Worker& worker) {
  if (!has_ended(worker.process)) return false;
  receive(worker);  // what it has written before its end
  // Processes that it started end with it. Until it is waited for, its number is not reused.
  signal_group(worker.process, SIGKILL);
  report(worker, wait_for_end(worker.process));
  return true;
}

void WorkerPool::report(Worker& worker, ProcessEnd end) {
  if (!worker.job) return;
  if (const OnProcessEnd on_end = std::exchange(worker.job->on_end, nullptr)) on_end(std::move(end));
}

Result<std::string, std::string> ask_worker(const WorkerCommand& command, const std::string& message,
                                            milliseconds limit) {
  auto process = start_process(command, {});
  if (!process) return failure(fmt::format("cannot start `{}`: {}", command.path, process.error()));
  const auto deadline = steady_clock::now() + limit;
  const std::string request = frame(message);
  std::size_t sent = 0;
  std::string received;
  bool is_open = true;
  const auto is_whole = [&] {
    const auto length = framed_length(received);
    return length && received.size() - length_bytes >= *length;
  };
  while (is_open && !is_whole() && received.size() <= process_reply_bytes_max) {
    const auto left = std::chrono::ceil<milliseconds>(deadline - steady_clock::now());
    if (left.count() <= 0) break;
    const bool has_more = sent < request.size();
    pollfd place{process->socket.number(), static_cast<short>(has_more ? POLLIN | POLLOUT : POLLIN), 0};
    ::poll(&place, 1, static_cast<int>(left.count()));
    if (has_more && (place.revents & POLLOUT) != 0) {
      const ssize_t count = ::send(place.fd, request.data() + sent, request.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (count > 0) sent += static_cast<std::size_t>(count);
    }
    std::array<char, 65'536> buffer;
    const ssize_t count = ::recv(place.fd, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (count > 0) received.append(buffer.data(), static_cast<std::size_t>(count));
    is_open = count > 0 || (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR));
  }
  const bool is_late = is_open && !is_whole();
  process->socket.reset();
  if (is_late || is_whole()) signal_group(*process, SIGKILL);  // it has nothing more to do
  const ProcessEnd end = wait_for_end(*process);
  if (is_whole()) return received.substr(length_bytes, static_cast<std::size_t>(*framed_length(received)));
  if (is_late) return failure(fmt::format("it did not answer within {} s", limit.count() / 1'000));
  if (end.how == ProcessEnd::How::Signalled) return failure("its process was killed by " + describe_signal(end.code));
  return failure(fmt::format("its process exited with code {}", end.code));
}

}  // namespace tenon::tools
