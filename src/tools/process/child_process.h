#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "base/result.h"

namespace tenon::tools {

/// The worker for a call: a program that is executed, with its arguments (the program's own name first) and its
/// environment (`NAME=value`).
struct WorkerCommand {
  std::string path;  ///< empty: there is none
  std::vector<std::string> arguments;
  std::vector<std::string> environment;
};

/// The variable that names the effect for the process.
inline constexpr const char* effect_key_variable = "TENON_EFFECT_KEY";
/// The worker's descriptor of the stream socket to the process that started it.
inline constexpr int worker_descriptor = 3;

/// A process that was started and has to be waited for.
struct ChildProcess {
  pid_t id = 0;
  Descriptor socket;  ///< to `worker_descriptor`; does not block
  Descriptor ended;   ///< readable once the process has ended; not open if the kernel does not support it
};

/// How a process has ended, or what it has replied.
struct ProcessEnd {
  enum class How : std::uint8_t {
    Replied,     ///< with a complete reply
    Exited,      ///< without a complete reply, with `code`
    Signalled,   ///< by the signal `code`
    TooLong,     ///< its reply is longer than process_reply_bytes_max
    NotStarted,  ///< `problem` says why
  };
  How how = How::Replied;
  int code = 0;
  std::string reply;    ///< the message, without its length
  std::string problem;  ///< for people
};

/// Starts a process in a separate group, with default signals, nothing to read on stdin, this process's stdout and
/// stderr, and no other descriptor than its socket. Nothing runs between fork and exec, so threads are safe. The
/// effect's key goes into its environment; an empty one is not set. Fails with the system's reason.
[[nodiscard]] Result<ChildProcess, std::string> start_process(const WorkerCommand& command, const std::string& key);

/// Sends a signal to the process and all of its group.
void signal_group(const ChildProcess& process, int signal);

/// `SIGSEGV (Segmentation fault)`
[[nodiscard]] std::string describe_signal(int signal);

}  // namespace tenon::tools
