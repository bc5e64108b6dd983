#pragma once

#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "base/descriptor.h"
#include "base/waker.h"

namespace tenon::server {

/// Watches files that exist, also while editors replace them by others of the same name. Uses inotify and a thread.
class FileWatch final {
 public:
  /// `on_change` is called on the thread when a file may have other contents, with its index. Without inotify it is
  /// never called.
  FileWatch(const std::vector<std::string>& paths, std::function<void(std::size_t file)> on_change);
  ~FileWatch();
  FileWatch(const FileWatch&) = delete;
  FileWatch& operator=(const FileWatch&) = delete;

 private:
  void run();
  void read();

  std::function<void(std::size_t)> on_change_;
  Descriptor inotify_;
  std::map<std::pair<int, std::string>, std::size_t> files_;  ///< by the watch of their folder and their name
  Waker ended_;
  std::thread thread_;
};

}  // namespace tenon::server
