#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>

#include "cli/environment.h"

namespace tenon::cli {

/// Reads lines from a file descriptor until the process is interrupted.
class TerminalInput {
 public:
  /// `interrupted` outlives it, and is only read.
  TerminalInput(int file, const std::atomic<bool>& interrupted) : file_(file), interrupted_(interrupted) {}

  /// The line without the newline. Returns nothing at the end of the input, after an interruption, and when `look` has
  /// returned true.
  [[nodiscard]] std::optional<std::string> read_line(const Look& look = {});
  /// The same with the terminal's echo off. Calls `prompt` once the echo is off.
  [[nodiscard]] std::optional<std::string> read_hidden_line(const std::function<void()>& prompt, const Look& look = {});

 private:
  int file_;
  const std::atomic<bool>& interrupted_;
  std::string rest_;  ///< read but not returned yet
};

}  // namespace tenon::cli
