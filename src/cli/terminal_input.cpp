#include "cli/terminal_input.h"

#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

namespace tenon::cli {
namespace {

/// How often an interruption is checked for, and anything else, milliseconds.
constexpr int check_ms = 100;

/// Turns the terminal's echo off until it is destroyed.
class HiddenTyping {
 public:
  explicit HiddenTyping(int file) : file_(file) {
    if (::tcgetattr(file, &before_) != 0) return;
    termios hidden = before_;
    hidden.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    is_hidden_ = ::tcsetattr(file, TCSAFLUSH, &hidden) == 0;
  }
  HiddenTyping(const HiddenTyping&) = delete;
  HiddenTyping& operator=(const HiddenTyping&) = delete;
  ~HiddenTyping() {
    if (!is_hidden_) return;
    ::tcsetattr(file_, TCSANOW, &before_);
    // The newline was not echoed either.
    static_cast<void>(::write(STDERR_FILENO, "\n", 1));
  }

 private:
  int file_;
  termios before_{};
  bool is_hidden_ = false;
};

}  // namespace

std::optional<std::string> TerminalInput::read_hidden_line(const std::function<void()>& prompt, const Look& look) {
  const HiddenTyping hidden(file_);
  prompt();
  return read_line(look);
}

std::optional<std::string> TerminalInput::read_line(const Look& look) {
  for (;;) {
    if (const std::size_t end = rest_.find('\n'); end != std::string::npos) {
      std::string line = rest_.substr(0, end);
      rest_.erase(0, end + 1);
      if (line.ends_with('\r')) line.pop_back();
      return line;
    }
    if (interrupted_.load()) {
      rest_.clear();
      return std::nullopt;
    }
    pollfd waiting{file_, POLLIN, 0};
    const int ready = ::poll(&waiting, 1, check_ms);
    if (ready < 0 && errno != EINTR) return std::nullopt;
    if (ready <= 0 && look && look()) return std::nullopt;
    if (ready <= 0) continue;
    std::array<char, 4096> block{};
    const ssize_t got = ::read(file_, block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      if (rest_.empty()) return std::nullopt;
      return std::exchange(rest_, {});
    }
    rest_.append(block.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace tenon::cli
