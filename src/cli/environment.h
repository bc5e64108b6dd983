#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/file_system.h"

namespace tenon::cli {

/// The process as the commands see it. Exit codes: 0 done, 1 the program or its run failed, 2 the command line is
/// wrong, 3 the run waits for a person or for time to pass, 130 or 143 the process was told to stop.
struct Environment {
  FileSystem& files;
  Clock& clock;
  std::function<std::string(const char*)> variable;       ///< of the environment; empty when unset
  std::function<std::vector<std::string>()> variables;    ///< all of the environment: `NAME=value`
  std::function<void(std::string_view)> write_output;     ///< stdout; to a terminal, printable characters alone
  std::function<void(std::string_view)> write_error;      ///< stderr, printable characters alone
  std::function<void(std::string_view)> write_styled;     ///< stderr with colours and a moved cursor: ours alone
  std::function<std::string()> read_input;                ///< all of stdin
  std::function<std::optional<std::string>()> read_line;  ///< of stdin, without its end; nothing at the end of it
  std::function<double()> random_unit;                    ///< in [0, 1)
  /// Set by the first SIGINT or SIGTERM; a line that is waited for is given up then. The second one ends the process.
  std::atomic<bool>* interrupted = nullptr;
  std::atomic<int>* stop_signal = nullptr;  ///< the newest of these signals
  /// Seconds after the first signal at which the process ends at once; 0: it does not.
  std::atomic<unsigned>* stop_seconds_max = nullptr;
  /// From now on a SIGINT or SIGTERM ends the process at once.
  std::function<void()> exit_on_next_signal = {};
  bool error_is_terminal = false;
  bool output_is_terminal = false;
  /// As read_line, of what a terminal does not show; the prompt goes to stderr when it does not any more.
  std::function<std::optional<std::string>(std::string_view prompt)> read_hidden_line = {};
};

/// Prints `tenon: MESSAGE` as an error. Returns exit_failed.
int tell(std::string_view message, const Environment& environment);

inline constexpr int exit_done = 0;
inline constexpr int exit_failed = 1;
inline constexpr int exit_usage = 2;
inline constexpr int exit_waits = 3;
/// To which a signal's number is added: as a shell reports a process that the signal has ended.
inline constexpr int exit_signal_base = 128;

}  // namespace tenon::cli
