#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "engine/system.h"

namespace tenon::cli {

/// Is called several times a second while a line is awaited, and ends that when it returns true. May be empty.
using Look = std::function<bool()>;

/// The process as the commands see it.
struct Environment {
  engine::System system;                               ///< its notices are printed
  std::function<void(std::string_view)> write_output;  ///< stdout; on a terminal, only printable characters
  std::function<void(std::string_view)> write_error;   ///< stderr, only printable characters
  std::function<void(std::string_view)> write_styled;  ///< stderr with escape sequences: Tenon's text only
  std::function<std::string()> read_input;             ///< all of stdin
  /// Of stdin, without the line's end (LF or CR LF); nothing at its end.
  std::function<std::optional<std::string>(const Look& look)> read_line;
  /// Set by the first SIGINT or SIGTERM, which also ends waiting for a line. The second one ends the process.
  std::atomic<bool>* interrupted = nullptr;
  std::atomic<int>* stop_signal = nullptr;  ///< the newest of these signals
  /// Seconds after the first signal at which the process ends at once; 0: it does not.
  std::atomic<unsigned>* stop_seconds_max = nullptr;
  /// What is printed on stderr when a signal ends the process at once, with the end of its line; empty: nothing.
  std::function<void(const std::string& words)> set_last_words;
  /// This first `signal` was taken elsewhere: the next SIGINT or SIGTERM ends the process at once.
  std::function<void(int signal)> exit_on_next_signal = {};
  bool error_is_terminal = false;
  bool output_is_terminal = false;
  /// Of `write_output`. Not 1 while functions of libraries may print: then 1 is that of stderr.
  int output_descriptor = 1;
  /// Like read_line, but a terminal does not echo the line. Prints the prompt to stderr once the echo is off.
  std::function<std::optional<std::string>(std::string_view prompt, const Look& look)> read_hidden_line = {};
};

/// The exit codes of all commands: `tenon help exit-codes` and docs/guides/command_line.md describe them.
inline constexpr int exit_done = 0;
inline constexpr int exit_failed = 1;
inline constexpr int exit_usage = 2;    ///< the command line or an environment variable is wrong
inline constexpr int exit_waits = 3;    ///< the run waits for a person or a timer
inline constexpr int exit_broken = 70;  ///< an internal error: `EX_SOFTWARE`
/// To which a signal's number is added: as a shell reports a process that the signal has ended.
inline constexpr int exit_signal_base = 128;

/// Prints `error: MESSAGE` on stderr. Returns `code`, for the caller to exit with.
int fail(std::string_view message, const Environment& environment, int code = exit_failed);
/// Prints `warning: MESSAGE` on stderr: the command continues.
void warn(std::string_view message, const Environment& environment);
/// Prints `tenon: MESSAGE` on stderr: what the command does.
void notify(std::string_view message, const Environment& environment);
/// Prints a notice of an engine on stderr.
void print_notice(engine::NoticeKind kind, std::string_view text, const Environment& environment);

}  // namespace tenon::cli
