#include "journal/sqlite/lock_file_wakeups.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <thread>
#include <utility>

#include "base/descriptor.h"
#include "base/signal_free_thread.h"
#include "base/waker.h"

namespace tenon::journal::sqlite {
namespace {

class WatchedFile final : public Subscription {
 public:
  WatchedFile(const std::string& path, std::function<void()> notify)
      : changes_(inotify_init1(IN_CLOEXEC | IN_NONBLOCK)),
        is_watching_(changes_.is_open() && end_.is_open() &&
                     inotify_add_watch(changes_.number(), path.c_str(), IN_ATTRIB) >= 0),
        notify_(std::move(notify)) {
    if (!is_watching_) return;
    thread_ = start_signal_free_thread([this] { watch(); });
  }
  ~WatchedFile() override {
    if (!thread_.joinable()) return;
    end_.wake();
    thread_.join();
  }

  [[nodiscard]] bool is_watching() const { return is_watching_; }

 private:
  void watch() {
    std::array<pollfd, 2> waits{pollfd{changes_.number(), POLLIN, 0}, pollfd{end_.descriptor(), POLLIN, 0}};
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

  const Descriptor changes_;
  const Waker end_;
  const bool is_watching_;
  const std::function<void()> notify_;
  std::thread thread_;
};

}  // namespace

std::unique_ptr<Subscription> LockFileWakeups::subscribe(std::function<void(Notice)> notify) {
  auto watched = std::make_unique<WatchedFile>(path_, [notify = std::move(notify)] { notify(Notice::Any); });
  if (!watched->is_watching()) return nullptr;
  return watched;
}

void LockFileWakeups::announce() {
  // Without an owner there may be no such file, and no one to notify.
  static_cast<void>(utimensat(AT_FDCWD, path_.c_str(), nullptr, 0));
}

}  // namespace tenon::journal::sqlite
