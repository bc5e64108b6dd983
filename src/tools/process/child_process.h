#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace tenon::tools {

/// What a call is put into: a program that is executed, with its arguments (the program's own name first) and its
/// environment (`NAME=value`).
struct WorkerCommand {
  std::string path;  ///< empty: there is none
  std::vector<std::string> arguments;
  std::vector<std::string> environment;
};

/// The variable that names the effect for the process.
inline constexpr const char* effect_key_variable = "TENON_EFFECT_KEY";
/// The descriptor by which the process talks to the one that has started it: a stream socket.
inline constexpr int worker_descriptor = 3;

/// A file descriptor that is closed with its owner.
class Descriptor final {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { reset(); }
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      reset();
      number_ = std::exchange(other.number_, -1);
    }
    return *this;
  }
  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] bool is_open() const { return number_ >= 0; }
  void reset();

 private:
  int number_ = -1;
};

/// A process that was started and has to be waited for.
struct ChildProcess {
  pid_t id = 0;
  Descriptor socket;  ///< to `worker_descriptor`; does not block
  Descriptor ended;   ///< readable once the process has ended; not open where the kernel has no such thing
};

/// Starts a process in a separate group, with default signals, nothing to read on stdin, this process's stdout and
/// stderr, and no other descriptor than its socket. Nothing runs between the fork and the execution, so threads are no
/// danger. The effect's key goes into its environment; an empty one is not set. Fails with the system's reason.
[[nodiscard]] Result<ChildProcess, std::string> start_process(const WorkerCommand& command, const std::string& key);

/// Sends a signal to the process and all of its group.
void signal_group(const ChildProcess& process, int signal);

/// `SIGSEGV (Segmentation fault)`
[[nodiscard]] std::string describe_signal(int signal);

}  // namespace tenon::tools
