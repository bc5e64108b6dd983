#include "tools/process/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "base/ensure.h"

namespace tenon::tools {
namespace {

std::string describe_error(int error) {
  const char* const name = strerrordesc_np(error);
  return name == nullptr ? fmt::format("error {}", error) : name;
}

/// What `posix_spawn` takes; freed with it.
class SpawnPlan final {
 public:
  SpawnPlan() {
    ENSURE(posix_spawn_file_actions_init(&actions_) == 0);
    ENSURE(posix_spawnattr_init(&attributes_) == 0);
  }
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  void set(int socket) {
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions_, socket, worker_descriptor);
    // Descriptors of libraries that were opened without care are not handed on either.
    posix_spawn_file_actions_addclosefrom_np(&actions_, worker_descriptor + 1);
    sigset_t all;
    sigset_t none;
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  }
  [[nodiscard]] const posix_spawn_file_actions_t* actions() const { return &actions_; }
  [[nodiscard]] const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

Result<ChildProcess, std::string> start_process(const WorkerCommand& command, const std::string& key) {
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return failure("cannot create a socket for it: " + describe_error(errno));
  }
  ChildProcess process;
  process.socket = Descriptor(ends[0]);
  Descriptor theirs(ends[1]);
  ::fcntl(process.socket.number(), F_SETFL, O_NONBLOCK);
  // After every number to which the plan gives a new meaning.
  theirs = Descriptor(::fcntl(theirs.number(), F_DUPFD_CLOEXEC, worker_descriptor + 1));
  if (!theirs.is_open()) return failure("cannot create a socket for it: " + describe_error(errno));

  const std::string prefix = std::string(effect_key_variable) + "=";
  std::vector<std::string> environment;
  for (const std::string& variable : command.environment) {
    if (!variable.starts_with(prefix)) environment.push_back(variable);
  }
  if (!key.empty()) environment.push_back(prefix + key);
  std::vector<std::string> arguments = command.arguments;
  SpawnPlan plan;
  plan.set(theirs.number());
  const int error = ::posix_spawn(&process.id, command.path.c_str(), plan.actions(), plan.attributes(),
                                  pointers_to(arguments).data(), pointers_to(environment).data());
  if (error != 0) return failure(describe_error(error));
  process.ended = Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, process.id, 0)));
  return process;
}

void signal_group(const ChildProcess& process, int signal) {
  // Its end was not waited for yet, so the number is still its own.
  if (::kill(-process.id, signal) != 0) ::kill(process.id, signal);
}

std::string describe_signal(int signal) {
  const char* const name = sigabbrev_np(signal);
  const char* const words = sigdescr_np(signal);
  if (name == nullptr || words == nullptr) return fmt::format("signal {}", signal);
  return fmt::format("SIG{} ({})", name, words);
}

}  // namespace tenon::tools
