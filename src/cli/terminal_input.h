#pragma once

#include <atomic>
#include <optional>
#include <string>

namespace tenon::cli {

/// Lines from a file descriptor, each given up when somebody presses Ctrl-C meanwhile.
class TerminalInput {
 public:
  enum class Echo : bool { Off, On };

  /// `interrupted` outlives it; it is looked at and not reset.
  TerminalInput(int file, const std::atomic<bool>& interrupted) : file_(file), interrupted_(interrupted) {}

  /// Without its end. Nothing at the end of the input, and when it was interrupted. `Off`: a terminal does not show
  /// what is typed.
  [[nodiscard]] std::optional<std::string> read_line(Echo echo);

 private:
  [[nodiscard]] std::optional<std::string> take_line();

  int file_;
  const std::atomic<bool>& interrupted_;
  std::string rest_;  ///< read, and behind the lines that were given
};

}  // namespace tenon::cli
