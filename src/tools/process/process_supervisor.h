#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tools/process/child_process.h"

namespace tenon::tools {

/// How a process has ended for the one that has started it.
struct ProcessEnd {
  enum class How : std::uint8_t {
    Replied,     ///< `reply` is whole
    Exited,      ///< without a whole reply, with `code`
    Signalled,   ///< by the signal `code`
    TooLong,     ///< its reply is longer than process_reply_bytes_max
    NotStarted,  ///< `problem` says why
  };
  How how = How::Replied;
  int code = 0;
  std::string reply;    ///< the message, without its length
  std::string problem;  ///< for people
};

/// Called once for each process that was not given up, on the supervisor's thread. It may not call the supervisor.
using OnProcessEnd = std::function<void(ProcessEnd end)>;

/// Starts processes, hands each a request, takes its reply and ends it, on a separate thread. A request is all that
/// the process reads on its socket up to the end; a reply is eight bytes of length, lowest first, and as many bytes. No
/// process outlives the supervisor, and each is waited for.
class ProcessSupervisor final {
 public:
  /// `stop_wait`: between SIGTERM and SIGKILL for what still runs in the destructor.
  ProcessSupervisor(WorkerCommand command, std::chrono::milliseconds stop_wait);
  ~ProcessSupervisor();
  ProcessSupervisor(const ProcessSupervisor&) = delete;
  ProcessSupervisor& operator=(const ProcessSupervisor&) = delete;

  /// Any thread. Gives the number by which the process can be given up.
  std::uint64_t start(std::string request, std::string key, OnProcessEnd on_end);
  /// Any thread. Ends the process: SIGTERM, and SIGKILL after process_grace. Its end may still be reported, if it
  /// came first.
  void give_up(std::uint64_t number);
  /// Processes that run or wait in line, for tests.
  [[nodiscard]] std::size_t count() const { return count_; }

 private:
  using TimePoint = std::chrono::steady_clock::time_point;
  struct Job {
    std::uint64_t number = 0;
    std::string request;
    std::string key;
    OnProcessEnd on_end;  ///< empty once it was called or the job given up
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
  void kill_overdue();
  /// Whether the process has ended; then it was waited for, and its end was reported.
  bool reap(Job& job);
  void tell(Job& job, ProcessEnd end);
  void wake();

  const WorkerCommand command_;
  const std::chrono::milliseconds stop_wait_;
  Descriptor wake_;  ///< an eventfd
  std::atomic<std::size_t> count_ = 0;

  std::mutex mutex_;
  std::uint64_t next_number_ = 1;
  std::vector<Job> ordered_;
  std::vector<std::uint64_t> given_up_;
  bool is_stopping_ = false;

  // The thread's own.
  std::deque<Job> waiting_;
  std::list<Job> running_;
  bool has_stopped_ = false;

  std::thread thread_;
};

}  // namespace tenon::tools
