#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <iterator>
#include <new>

#include "base/ensure.h"
#include "base/printable.h"
#include "cli/commands.h"
#include "cli/signal_thread.h"
#include "cli/terminal_input.h"
#include "engine/process_system.h"
#include "tools/native/native_caller.h"
#include "tools/process/extern_worker.h"

namespace {

std::atomic<bool> interrupted{false};
std::atomic<int> stop_signal{0};
std::atomic<unsigned> stop_seconds_max{0};

/// What is said when a signal ends the process, by the thread that handles signals while another one may set it: that
/// writes into the text that is not shown.
std::array<std::array<char, 1024>, 2> last_words{};
std::atomic<unsigned> shown_words{0};

void set_last_words(const std::string& words) {
  const unsigned next = 1 - shown_words;
  std::array<char, 1024>& text = last_words.at(next);
  const std::size_t length = std::min(words.size(), text.size() - 1);
  std::memcpy(text.data(), words.data(), length);
  text.at(length) = '\0';
  shown_words = next;
}

void exit_at_once(int signal) {
  const char* const words = last_words[shown_words].data();
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, words, std::strlen(words));
  ::_exit(tenon::cli::exit_signal_base + signal);
}

void exit_on_signals() {
  std::signal(SIGINT, exit_at_once);
  std::signal(SIGTERM, exit_at_once);
}

/// The second signal, of either kind, ends the process at once.
void on_stop(int signal) {
  stop_signal = signal;
  if (interrupted.exchange(true)) exit_at_once(signal);
  if (const unsigned seconds = stop_seconds_max) ::alarm(seconds);
}

void on_alarm(int) {
  exit_at_once(stop_signal);
}

/// Returns false and sets `errno` if not everything was written.
bool write_all(std::FILE* stream, std::string_view text) {
  const bool is_written = std::fwrite(text.data(), 1, text.size(), stream) == text.size();
  return std::fflush(stream) == 0 && is_written;
}

/// The first error of stdout; 0 without one.
int output_error = 0;
std::FILE* output = stdout;

void write_output(std::string_view text) {
  if (!write_all(output, text) && output_error == 0) output_error = errno;
}

/// Keeps stdout for the command's own output: what functions of libraries and the processes of externs print goes to
/// stderr from now on. Without a stdout or a stderr nothing changes.
void reserve_stdout() {
  const int own = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (own < 0) return;
  std::FILE* const stream = ::fdopen(own, "w");
  if (stream == nullptr || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
    ::close(own);
    return;
  }
  output = stream;
}

/// Whether the command calls the functions of a program.
bool calls_functions(const tenon::cli::Command& command) {
  using namespace tenon::cli;
  return std::holds_alternative<RunCommand>(command) || std::holds_alternative<ChatCommand>(command) ||
         std::holds_alternative<ServeCommand>(command) || std::holds_alternative<ResumeCommand>(command) ||
         std::holds_alternative<ForkCommand>(command) || std::holds_alternative<TestCommand>(command);
}

/// Whether the command notices that it is asked to stop. The first signal ends the others.
bool notices_signals(const tenon::cli::Command& command) {
  return calls_functions(command) || std::holds_alternative<tenon::cli::PlanCommand>(command);
}

/// A command whose output was lost has failed. A reader that closed the pipe needs no message.
int with_output(int code) {
  if (output_error == 0) return code;
  if (output_error != EPIPE) {
    write_all(stderr, std::string("error: cannot write the output: ") + std::strerror(output_error) + "\n");
  }
  return code == tenon::cli::exit_done ? tenon::cli::exit_failed : code;
}

int run_command(int argc, char** argv) {
  using namespace tenon;
  if (argc == 2 && argv[1] == tools::extern_worker_argument) return tools::run_extern_worker();
  std::signal(SIGINT, on_stop);
  std::signal(SIGTERM, on_stop);
  std::signal(SIGALRM, on_alarm);
  std::signal(SIGPIPE, SIG_IGN);
  cli::handle_on_own_thread({SIGINT, SIGTERM, SIGALRM});
  RealFileSystem files;
  RealClock clock;
  cli::TerminalInput input(STDIN_FILENO, interrupted);
  PrintableStream screen;
  cli::Environment environment{
      .system = engine::process_system(files, clock),
      .write_output =
          [is_terminal = ::isatty(STDOUT_FILENO) != 0, &screen](std::string_view text) {
            if (is_terminal) return write_output(screen.take(text));
            write_output(text);
          },
      .write_error = [](std::string_view text) { write_all(stderr, make_printable(text)); },
      .write_styled = [](std::string_view text) { write_all(stderr, text); },
      .read_input = [] { return std::string(std::istreambuf_iterator<char>(std::cin), {}); },
      .read_line = [&input](const cli::Look& look) { return input.read_line(look); },
      .interrupted = &interrupted,
      .stop_signal = &stop_signal,
      .stop_seconds_max = &stop_seconds_max,
      .set_last_words = set_last_words,
      .exit_on_next_signal =
          [](int signal) {
            stop_signal = signal;
            exit_on_signals();
          },
      .error_is_terminal = ::isatty(STDERR_FILENO) != 0,
      .output_is_terminal = ::isatty(STDOUT_FILENO) != 0,
      .read_hidden_line =
          [&input](std::string_view prompt, const cli::Look& look) {
            return input.read_hidden_line([prompt] { write_all(stderr, make_printable(prompt)); }, look);
          },
  };
  environment.system.on_notice = [&environment](engine::NoticeKind kind, std::string_view text) {
    cli::print_notice(kind, text, environment);
  };
  const Result<cli::Command, cli::UsageError> command = cli::parse_command_line(argc, argv);
  if (!command) {
    const cli::UsageError& error = command.error();
    const std::string name = error.command.empty() ? "tenon" : "tenon " + error.command;
    environment.write_error(error.help.empty() ? "error: " + error.message + "\nSee `" + name + " --help`.\n"
                                               : error.help);
    return cli::exit_usage;
  }
  if (!notices_signals(*command)) exit_on_signals();
  if (calls_functions(*command)) reserve_stdout();
  environment.output_descriptor = ::fileno(output);
  if (const auto* run = std::get_if<cli::RunCommand>(&*command)) return cli::run(*run, environment);
  if (const auto* chat = std::get_if<cli::ChatCommand>(&*command)) return cli::chat(*chat, environment);
  if (const auto* serve = std::get_if<cli::ServeCommand>(&*command)) return cli::serve(*serve, environment);
  if (const auto* resume = std::get_if<cli::ResumeCommand>(&*command)) return cli::resume(*resume, environment);
  if (const auto* cancel = std::get_if<cli::CancelCommand>(&*command)) return cli::cancel(*cancel, environment);
  if (const auto* runs = std::get_if<cli::RunsCommand>(&*command)) return cli::runs(*runs, environment);
  if (const auto* store = std::get_if<cli::StoreCommand>(&*command)) return cli::store(*store, environment);
  if (const auto* trace = std::get_if<cli::TraceCommand>(&*command)) return cli::trace(*trace, environment);
  if (const auto* replay = std::get_if<cli::ReplayCommand>(&*command)) return cli::replay(*replay, environment);
  if (const auto* fork = std::get_if<cli::ForkCommand>(&*command)) return cli::fork(*fork, environment);
  if (const auto* check = std::get_if<cli::CheckCommand>(&*command)) return cli::check(*check, environment);
  if (const auto* format = std::get_if<cli::FormatCommand>(&*command)) return cli::format(*format, environment);
  if (const auto* test = std::get_if<cli::TestCommand>(&*command)) return cli::test(*test, environment);
  if (const auto* show = std::get_if<cli::ShowCommand>(&*command)) return cli::show(*show, environment);
  if (const auto* plan = std::get_if<cli::PlanCommand>(&*command)) return cli::plan(*plan, environment);
  if (const auto* edit = std::get_if<cli::EditCommand>(&*command)) return cli::edit(*edit, environment);
  if (const auto* ray = std::get_if<cli::RayCommand>(&*command)) return cli::ray(*ray, environment);
  if (const auto* stubs = std::get_if<cli::StubsCommand>(&*command)) return cli::stubs(*stubs, environment);
  if (const auto* explain = std::get_if<cli::ExplainCommand>(&*command)) return cli::explain(*explain, environment);
  if (const auto* explain = std::get_if<cli::ExplainFlowCommand>(&*command)) {
    return cli::explain_flow(*explain, environment);
  }
  environment.write_output(std::get<cli::PrintCommand>(*command).text);
  return cli::exit_done;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const int code = with_output(run_command(argc, argv));
    if (tenon::tools::NativeCaller::has_left_functions_running()) ::_exit(code);
    return code;
  } catch (const std::bad_alloc&) {
    write_all(stderr, "error: out of memory\n");
    return tenon::cli::exit_failed;
  } catch (const tenon::BrokenCondition& broken) {
    write_all(stderr, std::string("tenon: ") + broken.what() + "\n");
    ::_exit(tenon::cli::exit_broken);
  }
}
