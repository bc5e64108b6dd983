#include "journal/sqlite/lock_file_wakeups.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <thread>
#include <utility>

namespace tenon::journal::sqlite {
namespace {

/// A file descriptor that is closed with the object.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int number() const { return number_; }

 private:
  const int number_;
};

class WatchedFile final : public Subscription {
 public:
  WatchedFile(const std::string& path, std::function<void()> notify)
      : changes_(inotify_init1(IN_CLOEXEC | IN_NONBLOCK)),
        end_(eventfd(0, EFD_CLOEXEC)),
        is_watching_(changes_.number() >= 0 && end_.number() >= 0 &&
                     inotify_add_watch(changes_.number(), path.c_str(), IN_ATTRIB) >= 0),
        notify_(std::move(notify)) {
    if (!is_watching_) return;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([this] { watch(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  ~WatchedFile() override {
    if (!thread_.joinable()) return;
    eventfd_write(end_.number(), 1);
    thread_.join();
  }

  [[nodiscard]] bool is_watching() const { return is_watching_; }

 private:
  void watch() {
    std::array<pollfd, 2> waits{pollfd{changes_.number(), POLLIN, 0}, pollfd{end_.number(), POLLIN, 0}};
    while (true) {
      if (poll(waits.data(), waits.size(), -1) < 0 && errno != EINTR) return;
      if (waits[1].revents != 0) return;
      if (waits[0].revents == 0) continue;
      alignas(inotify_event) std::array<char, 4'096> events;
      while (read(changes_.number(), events.data(), events.size()) > 0) {
      }
      notify_();
    }
  }

  Descriptor changes_;
  Descriptor end_;
  const bool is_watching_;
  const std::function<void()> notify_;
  std::thread thread_;
};

}  // namespace

std::unique_ptr<Subscription> LockFileWakeups::subscribe(std::function<void()> notify) {
  auto watched = std::make_unique<WatchedFile>(path_, std::move(notify));
  if (!watched->is_watching()) return nullptr;
  return watched;
}

void LockFileWakeups::announce() {
  // Without an owner there may be no such file, and no one to notify.
  static_cast<void>(utimensat(AT_FDCWD, path_.c_str(), nullptr, 0));
}

}  // namespace tenon::journal::sqlite
