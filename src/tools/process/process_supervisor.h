#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <thread>

#include "tools/process/child_process.h"
#include "tools/process/process_orders.h"

namespace tenon::tools {

/// Called once for each process that was not cancelled, on the supervisor's thread. It may not call the supervisor.
using OnProcessEnd = std::function<void(ProcessEnd end)>;

/// Starts processes, sends each a request, reads its reply and ends it, on a separate thread. A request is all that
/// the process reads on its socket up to the end; a reply is eight bytes of length, lowest first, and as many bytes. No
/// process outlives the supervisor, and each is waited for.
class ProcessSupervisor final {
 public:
  /// `stop_wait`: between SIGTERM and SIGKILL for what still runs in the destructor.
  ProcessSupervisor(WorkerCommand command, std::chrono::milliseconds stop_wait);
  ~ProcessSupervisor();
  ProcessSupervisor(const ProcessSupervisor&) = delete;
  ProcessSupervisor& operator=(const ProcessSupervisor&) = delete;

  /// Thread-safe. Returns the number by which the process can be cancelled.
  std::uint64_t start(std::string request, std::string key, OnProcessEnd on_end);
  /// Thread-safe. Ends the process: SIGTERM, and SIGKILL after process_grace. Its end may still be reported, if it has
  /// already ended.
  void give_up(std::uint64_t number);
  /// The number of processes that run or are queued, for tests.
  [[nodiscard]] std::size_t count() const { return count_; }

 private:
  using TimePoint = std::chrono::steady_clock::time_point;
  struct Job {
    std::uint64_t number = 0;
    std::string request;
    std::string key;
    OnProcessEnd on_end;  ///< empty once it was called or the job was cancelled
    ChildProcess process;
    std::size_t sent = 0;
    bool has_sent_all = false;
    std::string received;
    std::optional<TimePoint> kill_at;
    bool is_asked_to_end = false;  ///< SIGTERM was sent
  };

  void work();
  void take_orders();
  void start_waiting();
  void wait_for_something();
  void send(Job& job);
  void receive(Job& job);
  void ask_to_end(Job& job, std::chrono::milliseconds grace);
  /// Whether the process has ended; then it was waited for, and its end was reported.
  bool reap(Job& job);
  static void report(Job& job, ProcessEnd end);

  const WorkerCommand command_;
  const std::chrono::milliseconds stop_wait_;
  ProcessOrders<Job> orders_;
  std::atomic<std::size_t> count_ = 0;

  // The thread's own.
  std::deque<Job> waiting_;
  std::list<Job> running_;
  bool has_stopped_ = false;

  std::thread thread_;
};

}  // namespace tenon::tools
