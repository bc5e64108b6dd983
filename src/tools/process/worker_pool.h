#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <optional>
#include <string>
#include <thread>

#include "tools/process/child_process.h"
#include "tools/process/process_orders.h"
#include "tools/process/process_supervisor.h"

namespace tenon::tools {

/// Workers without a request that are kept; others are ended.
inline constexpr std::size_t idle_workers_max = 4;

/// Processes that perform one request after the other, and are started as they are needed, `processes_max` at most. A
/// message is eight bytes of length, lowest first, and as many bytes. Each process first gets the greeting, whose reply
/// is not looked at. A process whose request is given up, or that sends too much, is ended, and another one takes its
/// place. No process outlives the pool, and each is waited for.
class WorkerPool final {
 public:
  /// `stop_wait`: between SIGTERM and SIGKILL for what still runs in the destructor.
  WorkerPool(WorkerCommand command, std::string greeting, std::chrono::milliseconds stop_wait);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// Thread-safe. Returns the number by which the request can be given up.
  std::uint64_t start(std::string request, OnProcessEnd on_end);
  /// Thread-safe. Ends the process that performs the request: SIGTERM, and SIGKILL after process_grace. Its end may
  /// still be reported, if it has already ended.
  void give_up(std::uint64_t number);
  /// The number of processes, for tests.
  [[nodiscard]] std::size_t count() const { return count_; }

 private:
  using TimePoint = std::chrono::steady_clock::time_point;
  struct Job {
    std::uint64_t number = 0;
    std::string request;
    OnProcessEnd on_end;  ///< empty once it was called or the job was given up
  };
  struct Worker {
    ChildProcess process;
    std::optional<Job> job;
    std::string outgoing;
    std::size_t sent = 0;
    std::string received;
    bool is_greeted = false;  ///< the reply to the greeting has come
    std::optional<TimePoint> kill_at;
    bool is_ending = false;  ///< it gets no further requests
  };

  void work();
  void take_orders();
  void assign_waiting();
  [[nodiscard]] Worker* find_idle();
  [[nodiscard]] Worker* start_worker(Job& job);
  void wait_for_something();
  void send(Worker& worker) const;
  void receive(Worker& worker);
  void take_reply(Worker& worker, std::size_t length);
  void ask_to_end(Worker& worker, std::chrono::milliseconds grace) const;
  void end_idle();
  /// Whether the process has ended; then it was waited for, and its end was reported.
  bool reap(Worker& worker);
  static void report(Worker& worker, ProcessEnd end);

  const WorkerCommand command_;
  const std::string greeting_;
  const std::chrono::milliseconds stop_wait_;
  ProcessOrders<Job> orders_;
  std::atomic<std::size_t> count_ = 0;

  // The thread's own.
  std::deque<Job> waiting_;
  std::list<Worker> workers_;
  bool has_stopped_ = false;

  std::thread thread_;
};

/// Starts a process that gets one message and then nothing more, and returns its reply. Waits for `limit` at most.
/// Fails with a sentence for people.
[[nodiscard]] Result<std::string, std::string> ask_worker(const WorkerCommand& command, const std::string& message,
                                                          std::chrono::milliseconds limit);

}  // namespace tenon::tools
