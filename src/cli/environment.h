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
/// wrong, 3 the run waits for a person or for time to pass.
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
  std::atomic<bool>* interrupted = nullptr;               ///< set by Ctrl-C; a line that is waited for is given up then
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
inline constexpr int exit_interrupted = 130;  ///< as a shell tells of a process that Ctrl-C has ended

}  // namespace tenon::cli
