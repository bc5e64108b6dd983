#include "server/file_watch.h"

#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>
#include <system_error>

#include "base/signal_free_thread.h"

namespace tenon::server {

FileWatch::FileWatch(const std::vector<std::string>& paths, std::function<void(std::size_t file)> on_change)
    : on_change_(std::move(on_change)), inotify_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
  if (!inotify_.is_open() || !ended_.is_open()) return;
  for (std::size_t at = 0; at < paths.size(); ++at) {
    std::error_code error;
    const std::filesystem::path path = std::filesystem::absolute(paths[at], error);
    // The folder, since an editor may put another file in the place of the one that it has read.
    const int watch = ::inotify_add_watch(inotify_.number(), path.parent_path().c_str(),
                                          IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_ONLYDIR);
    if (!error && watch >= 0) files_.emplace(std::pair(watch, path.filename().string()), at);
  }
  thread_ = start_signal_free_thread([this] { run(); });
}

FileWatch::~FileWatch() {
  if (!thread_.joinable()) return;
  ended_.wake();
  thread_.join();
}

void FileWatch::run() {
  for (;;) {
    std::array<pollfd, 2> waiting{{{inotify_.number(), POLLIN, 0}, {ended_.descriptor(), POLLIN, 0}}};
    if (::poll(waiting.data(), waiting.size(), -1) < 0 && errno != EINTR) return;
    if (waiting[1].revents != 0) return;
    if (waiting[0].revents != 0) read();
  }
}

void FileWatch::read() {
  alignas(inotify_event) std::array<char, 16 * 1024> buffer;
  std::set<std::size_t> changed;
  for (;;) {
    const ssize_t bytes = ::read(inotify_.number(), buffer.data(), buffer.size());
    if (bytes <= 0) break;
    for (std::size_t at = 0; at < static_cast<std::size_t>(bytes);) {
      inotify_event event;
      std::memcpy(&event, buffer.data() + at, sizeof(event));
      const char* const name = buffer.data() + at + sizeof(event);
      at += sizeof(event) + event.len;
      if ((event.mask & IN_Q_OVERFLOW) != 0) {
        for (const auto& [key, file] : files_) changed.insert(file);
      } else if (event.len > 0) {
        const auto found = files_.find({event.wd, std::string(name)});
        if (found != files_.end()) changed.insert(found->second);
      }
    }
  }
  for (const std::size_t file : changed) on_change_(file);
}

}  // namespace tenon::server
