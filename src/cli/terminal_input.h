#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>

namespace tenon::cli {

/// Lines from a file descriptor, each given up when somebody presses Ctrl-C meanwhile.
class TerminalInput {
 public:
  /// `interrupted` outlives it; it is looked at and not reset.
  TerminalInput(int file, const std::atomic<bool>& interrupted) : file_(file), interrupted_(interrupted) {}

  /// Without its end. Nothing at the end of the input, and when it was interrupted.
  [[nodiscard]] std::optional<std::string> read_line();
  /// The same, while a terminal does not show what is typed. `prompt` is called as soon as that is so.
  [[nodiscard]] std::optional<std::string> read_hidden_line(const std::function<void()>& prompt);

 private:
  int file_;
  const std::atomic<bool>& interrupted_;
  std::string rest_;  ///< read, and behind the lines that were given
};

}  // namespace tenon::cli
